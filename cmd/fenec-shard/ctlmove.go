package main

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// lookEvery is how long the pauses between two looks at something that runs are.
const lookEvery = 500 * time.Millisecond

// moved is the router's answer to a move.
type moved struct {
	Tenant, From, To string
	Bytes            int64
	MS               int64
	SourceRemoved    bool `json:"source_removed"`
	kept
}

func moveTenant(ctx context.Context, c *console, operands []string) error {
	tenant := operands[0]
	answer, err := c.watchMove(ctx, tenant, func() ([]byte, error) {
		return c.shard.ask(ctx, http.MethodPost, "tenants/"+tenant+"/move", map[string]string{"to": operands[1]})
	})
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("nobody waits any more; the router goes on with the move")
	case err != nil:
		return err
	}
	var m moved
	if err := decode(answer, &m); err != nil {
		return err
	}
	return c.show(answer, m.line)
}

// line tells what a move did, and how fast.
func (m moved) line(t *table) {
	t.line("%s moved from %s to %s: %s in %s ms, %s/s", m.Tenant, m.From, m.To,
		size(m.Bytes), number(m.MS), size(m.Bytes*1000/max(m.MS, 1)))
	if !m.SourceRemoved {
		t.line("its old copy is still on %s; the router goes on trying to clear it away", m.From)
	}
	m.kept.line(t)
}

// watchMove runs a move and meanwhile shows, where somebody looks, what has become of
// the tenant.
func (c *console) watchMove(ctx context.Context, tenant string, move func() ([]byte, error)) (answer []byte, err error) {
	if c.progress == nil {
		return move()
	}
	defer c.progress.end()
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer stop()
		answer, err = move()
	}()
	began := c.now()
	for running.Err() == nil {
		c.showMove(running, tenant, began)
	}
	<-ended
	return answer, err
}

// showMove looks once, and pauses. A look in a large directory takes its time: the
// pause is longer then, so that looking never is what the router is busy with.
func (c *console) showMove(ctx context.Context, tenant string, began time.Time) {
	start := c.now()
	// A look that fails shows nothing: the move's own answer tells what is wrong.
	if e, err := c.lookUp(ctx, tenant); err == nil {
		c.progress.show("%s  on %s, %s  %s  %s", e.Name, e.Node, e.doing(), e.size(), took(start.Sub(began).Seconds()))
	}
	_ = c.pause(ctx, max(lookEvery, 10*c.now().Sub(start))) // running is asked by the caller
}

var errNotListed = errors.New("the router does not list the tenant")

// lookUp returns what the router says of a tenant.
func (c *console) lookUp(ctx context.Context, tenant string) (tenantEntry, error) {
	var list []tenantEntry
	if _, err := c.shard.get(ctx, "tenants?bytes", &list); err != nil {
		return tenantEntry{}, err
	}
	for _, e := range list {
		if e.Name == tenant {
			return e, nil
		}
	}
	return tenantEntry{}, errNotListed
}
