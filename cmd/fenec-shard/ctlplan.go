package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"time"
)

// plannedMove is a move that the router would make.
type plannedMove struct {
	Tenant, From, To string
	Bytes            int64
	Seconds          float64
	Why              string
}

// planned is the router's answer on what a rebalance does.
type planned struct {
	Moves  []plannedMove
	Stuck  []unmoved // that must go and that no node takes
	Silent []string  // nodes that did not answer
}

// unmoved is a tenant that could not be moved.
type unmoved struct{ Tenant, Why string }

func showPlan(ctx context.Context, c *console, _ []string) error {
	var p planned
	body, err := c.shard.get(ctx, "plan", &p)
	if err != nil {
		return err
	}
	return c.show(body, p.rows)
}

func (p planned) rows(t *table) {
	if len(p.Moves) == 0 {
		t.line("nothing is to be moved")
	} else {
		p.moveRows(t)
	}
	unmovedLines(t, p.Stuck)
	for _, node := range p.Silent {
		t.line("node %s did not answer and is left as it is", node)
	}
}

func (p planned) moveRows(t *table) {
	var bytes int64
	var seconds float64
	t.row("TENANT", "FROM", "TO", "BYTES", "TAKES", "WHY")
	for _, m := range p.Moves {
		bytes, seconds = bytes+m.Bytes, seconds+m.Seconds
		t.row(m.Tenant, m.From, m.To, size(m.Bytes), took(m.Seconds), m.Why)
	}
	t.line("%s, %s, %s one after the other", count(len(p.Moves), "move"), size(bytes), took(seconds))
}

func unmovedLines(t *table, list []unmoved) {
	for _, u := range list {
		t.line("%s is not moved: %s", u.Tenant, u.Why)
	}
}

// took returns a number of seconds as text.
func took(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second / 10).String()
	}
	return d.Round(time.Second).String()
}

func declareRebalance(fs *flag.FlagSet) action {
	run, noWait := fs.Bool("run", false, ""), fs.Bool("no-wait", false, "")
	return func(ctx context.Context, c *console, _ []string) error {
		var p planned
		answer, err := c.shard.ask(ctx, http.MethodPost, "rebalance", map[string]bool{"dry_run": !*run})
		if err == nil {
			err = decode(answer, &p)
		}
		switch {
		case err != nil:
			return err
		case !*run || *noWait:
			return c.show(answer, p.rows)
		}
		return c.finish(ctx, "rebalance", newRebalancing(p))
	}
}

// rebalancing is how far a rebalance has come.
type rebalancing struct {
	moves int             // that were planned as it began
	stuck map[string]bool // these count as failed, but no move was planned for them
	rebalanced
}

// rebalanced is the router's answer on the last rebalance.
type rebalanced struct {
	Planned, Running, Done int
	Failed                 []unmoved
}

func newRebalancing(p planned) *rebalancing {
	r := &rebalancing{moves: len(p.Moves), stuck: map[string]bool{}}
	for _, u := range p.Stuck {
		r.stuck[u.Tenant] = true
	}
	return r
}

// errForgotten is returned when the router tells of another rebalance than the one that
// it has begun.
var errForgotten = errors.New("the router was started anew and does not go on; plan shows what is left")

func (r *rebalancing) see(answer []byte) (over bool, err error) {
	r.rebalanced = rebalanced{}
	if err := decode(answer, &r.rebalanced); err != nil {
		return false, err
	}
	if r.Planned != r.moves {
		return false, errForgotten
	}
	return r.Running == 0 && r.ended() >= r.Planned, nil
}

// ended returns how many of the planned moves have ended.
func (r *rebalancing) ended() int {
	n := r.Done
	for _, u := range r.Failed {
		if !r.stuck[u.Tenant] {
			n++
		}
	}
	return n
}

func (r *rebalancing) progress() string {
	return fmt.Sprintf("%s %d of %s, %d running", bar(r.ended(), r.Planned), r.ended(), count(r.Planned, "move"), r.Running)
}

func (r *rebalancing) result(t *table) error {
	if r.Planned == 0 {
		t.line("nothing is to be moved")
	} else {
		t.line("%d of %s made", r.Done, count(r.Planned, "move"))
	}
	unmovedLines(t, r.Failed)
	if len(r.Failed) > 0 {
		return fmt.Errorf("%s could not be moved", count(len(r.Failed), "tenant"))
	}
	return nil
}
