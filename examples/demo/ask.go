package main

import (
	"context"
	"fmt"
	"strings"
)

// ask goes through the topics and stops at the first unexpected answer.
func ask(ctx context.Context, p *printer, cl *cluster, topics []topic) error {
	for i, t := range topics {
		p.topic(i+1, t)
		for _, x := range t.asks {
			if err := x.run(ctx, p, cl); err != nil {
				return fmt.Errorf("%d. %s: %w", i+1, t.title, err)
			}
		}
	}
	return nil
}

// run asks, prints the curl line and the answer, and checks it.
func (x exchange) run(ctx context.Context, p *printer, cl *cluster) error {
	c := x.call(cl.tokens)
	p.curl(cl.router.URL(), c)
	status, body, err := cl.do(ctx, c)
	if err != nil {
		return err
	}
	p.answer(status, body)
	if err := x.check(status, body); err != nil {
		return fmt.Errorf("unexpected answer %s: %w", oneLine(body), err)
	}
	return nil
}

func (x exchange) call(t tokens) call {
	c := call{method: x.method, path: x.path, token: t.data}
	if x.shard {
		c.token = t.shard
	}
	var lines []string
	for _, s := range x.body {
		lines = append(lines, s.String())
	}
	c.body = strings.Join(lines, "\n")
	return c
}

// curlLines returns the command that makes the call at base, as lines for a
// shell.
func curlLines(base string, c call) []string {
	lines := []string{"curl -s " + quote(base+c.path), "  -H " + quote("Authorization: Bearer "+c.token)}
	// A -d would take the line breaks out of a batch.
	flag := "  -d "
	if strings.Contains(c.body, "\n") {
		flag = "  --data-binary "
	}
	if c.body != "" {
		lines = append(lines, flag+quote(c.body))
	}
	for i := range len(lines) - 1 {
		lines[i] += " \\"
	}
	return lines
}

// quote returns s as one word of a shell.
func quote(s string) string {
	special := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/:._-", r))
	}
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
