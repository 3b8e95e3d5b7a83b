package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/internal/daemon"
)

// process is a process that is measured, as its clients see it.
type process struct {
	*daemon.Process
	addrs map[string]string
}

// start starts one with a database of so many rows.
func (e *env) start(ctx context.Context, role, file string, rows int, sync string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	d, err := daemon.Start(ctx, role, self, "-host", role, "-file", file, "-rows", strconv.Itoa(rows),
		"-sync", sync, "-streams", strconv.Itoa(e.streams))
	if err != nil {
		return nil, err
	}
	p := &process{Process: d}
	if err := p.tells(ctx, "POST", "/open", &p.addrs); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// cpu returns the CPU time that it has used.
func (p *process) cpu(ctx context.Context) (used time.Duration, err error) {
	return used, p.tells(ctx, "GET", "/cpu", &used)
}

// memory returns the bytes of memory that it takes up.
func (p *process) memory(ctx context.Context) (bytes int64, err error) {
	return bytes, p.tells(ctx, "GET", "/memory", &bytes)
}

// profile writes a CPU profile of the next d, in whole seconds, to a file.
func (p *process) profile(ctx context.Context, d time.Duration, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	path := fmt.Sprintf("/profile?seconds=%d", d/time.Second)
	return p.asks(ctx, "GET", path, func(body io.Reader) error {
		_, err := io.Copy(f, body)
		return err
	})
}

func (p *process) tells(ctx context.Context, method, path string, v any) error {
	return p.asks(ctx, method, path, func(body io.Reader) error { return json.NewDecoder(body).Decode(v) })
}

// asks asks the process itself, not what it serves.
func (p *process) asks(ctx context.Context, method, path string, take func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, p.URL()+path, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(res.Body)
		return errors.Join(fmt.Errorf("%s%s: %s: %s", p.Name(), path, res.Status, text), err)
	}
	return take(res.Body)
}
