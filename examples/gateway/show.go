package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// show makes requests of all kinds and prints them as curl lines, with their answers.
func show(ctx context.Context, out io.Writer, addr string) error {
	s := shower{ctx: ctx, out: out, addr: addr}

	s.title("The operator creates two customers. One is put on a node, the other goes where the most room is.")
	const schema = `"schema":{"format":1,"fenecql":"create collection notes (text text required)"}`
	s.request(201, call{method: "PUT", path: "/_shard/tenants/acme", token: shardToken, body: `{"node":"n1",` + schema + `}`})
	s.request(201, call{method: "PUT", path: "/_shard/tenants/beta", token: shardToken, body: `{` + schema + `}`})

	s.title("A customer writes and reads with a key. The node's token stays in the gateway.")
	read := call{path: "/notes", host: "acme." + domain, key: "key-of-acme"}
	write := read
	write.method, write.body = "POST", `{"text":"water the plants"}`
	s.request(201, write)
	s.request(200, read)

	s.title("Without a key, with another customer's, and at a host that is nobody's, nothing is forwarded.")
	s.request(401, call{path: "/notes", host: "acme." + domain, key: "guessed"})
	s.request(403, call{path: "/notes", host: "acme." + domain, key: "key-of-beta"})
	s.request(421, call{path: "/notes", host: "acme.example.com", key: "key-of-acme"})

	s.title("The customer is moved to the other node, and reads all the while.")
	s.readWhile(read, func() {
		s.request(200, call{method: "POST", path: "/_shard/tenants/acme/move", token: shardToken, body: `{"to":"n2"}`})
	})
	s.request(200, call{path: "/_shard/tenants", token: shardToken})
	return s.err
}

// call is one request.
type call struct {
	method, path string
	host         string // "" for that of the address
	key, token   string
	body         string
}

// shower sends requests and prints them. After an error it does nothing more.
type shower struct {
	ctx  context.Context
	out  io.Writer
	addr string
	err  error
}

func (s *shower) title(text string) { fmt.Fprintf(s.out, "\n# %s\n", text) }

// request shows a request, which is to be answered with the given status.
func (s *shower) request(status int, c call) {
	if s.err != nil {
		return
	}
	fmt.Fprintln(s.out, c.curl(s.addr))
	got, body, err := c.send(s.ctx, s.addr)
	if err == nil && got != status {
		err = fmt.Errorf("%s %s: answered %d, want %d: %s", c.method, c.path, got, status, body)
	}
	if s.err = err; err == nil {
		fmt.Fprintf(s.out, "%d %s\n", got, body)
	}
}

// readWhile does something, and sends a request again and again until that is done. One
// that is not answered is an error.
func (s *shower) readWhile(c call, do func()) {
	if s.err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	reads, failed := 0, error(nil)
	for ; failed == nil && !isClosed(done); reads++ {
		status, body, err := c.send(s.ctx, s.addr)
		if failed = err; err == nil && status != http.StatusOK {
			failed = fmt.Errorf("a read was answered %d: %s", status, body)
		}
	}
	<-done
	if s.err = errors.Join(s.err, failed); s.err == nil {
		fmt.Fprintf(s.out, "each of %d reads meanwhile was answered\n", reads)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// send sends the request and returns the status and the body of the answer.
func (c call) send(ctx context.Context, addr string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, c.method, "http://"+addr+c.path, strings.NewReader(c.body))
	if err != nil {
		return 0, nil, err
	}
	if c.host != "" {
		req.Host = c.host
	}
	if c.key != "" {
		req.Header.Set("X-Api-Key", c.key)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, bytes.TrimSpace(body), err
}

// curl returns the request as a line for a shell.
func (c call) curl(addr string) string {
	line := "curl http://" + addr + c.path
	if c.method != "" {
		line += " -X " + c.method
	}
	if c.host != "" {
		line += " -H 'Host: " + c.host + "'"
	}
	if c.key != "" {
		line += " -H 'X-Api-Key: " + c.key + "'"
	}
	if c.token != "" {
		line += " -H 'Authorization: Bearer " + c.token + "'"
	}
	if c.body != "" {
		line += " -d '" + c.body + "'"
	}
	return line
}
