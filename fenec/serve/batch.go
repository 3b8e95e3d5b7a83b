package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
)

// batch answers POST /batch.
func (c *call) batch(ctx context.Context) Answer {
	list, err := parseBatch(c.body)
	if err != nil {
		return Fail(http.StatusBadRequest, err.Error())
	}
	c.statements = list
	kinds := c.kinds(list)
	writes, compacts := false, false
	for _, t := range kinds {
		writes = writes || t.verb.writes()
		compacts = compacts || t.verb == verbCompact
	}
	var a Answer
	if writes {
		a = c.batchOfWrites(ctx, list, kinds, compacts)
	} else {
		a = c.batchOfReads(ctx, list)
	}
	a.Ran = a.Status == http.StatusOK
	a.wrote = writes
	for _, t := range kinds {
		c.audited(t, &a)
	}
	a.nothing = a.nothing || a.Status == http.StatusPreconditionFailed
	return a
}

// parseBatch reads one statement a line; blank lines count as lines only.
func parseBatch(body []byte) ([]fenec.Statement, error) {
	var out []fenec.Statement
	n := 0
	for line := range bytes.Lines(body) {
		n++
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		st, err := parseStatement(line, nil)
		if err != nil {
			return nil, fmt.Errorf("batch line %d: %w", n, err)
		}
		out = append(out, st)
	}
	if len(out) == 0 {
		return nil, errors.New("the batch holds no statement")
	}
	return out, nil
}

// kinds returns the traits of statements. One that does not parse is left to
// fail where it is run; until then it counts as a read.
func (c *call) kinds(list []fenec.Statement) []*traits {
	kinds := make([]*traits, len(list))
	for i, st := range list {
		t, err := c.server.known.of(st.Text)
		if err != nil {
			t = &traits{}
		}
		kinds[i] = t
	}
	return kinds
}

// batchOfReads runs statements that only read, all on one snapshot.
func (c *call) batchOfReads(ctx context.Context, list []fenec.Statement) Answer {
	var g gathered
	err := c.view.View(ctx, func(sn *fenec.Snapshot) error {
		g = gathered{}
		return g.run(ctx, list, sn.Query)
	})
	if err != nil {
		return c.fail(err)
	}
	return g.answer(len(list))
}

// batchOfWrites runs statements as one block, or one by one when one of them is
// a compact, which cannot be part of a block.
func (c *call) batchOfWrites(ctx context.Context, list []fenec.Statement, kinds []*traits, compacts bool) Answer {
	if refusal := c.claims(kinds); refusal != nil {
		return *refusal
	}
	key, refusal := c.admit(compacts)
	if refusal != nil {
		return *refusal
	}
	if key != nil {
		return c.keyed(ctx, *key, func(tx *fenec.Tx) (Answer, error) {
			var g gathered
			if err := g.run(ctx, list, tx.Query); err != nil {
				return Answer{}, err
			}
			return g.answer(len(list)), nil
		})
	}
	var g gathered
	if compacts {
		if err := g.run(ctx, list, c.view.Query); err != nil {
			return c.fail(stayed(err))
		}
		return g.answer(len(list))
	}
	seq, err := c.view.Update(ctx, func(tx *fenec.Tx) error { return g.run(ctx, list, tx.Query) })
	if err != nil {
		return c.fail(err)
	}
	a := g.answer(len(list))
	a.Seq = seq
	return a
}

// stayed says of a failed batch, whose statements were blocks of their own, that
// those before stay.
func stayed(err error) error {
	var be *fenec.BatchError
	if errors.As(err, &be) {
		be.Completed = be.At
	}
	return err
}

// gathered are the answers of a batch's statements, as JSON as soon as they are
// there: results take up several times the memory.
type gathered struct {
	body    []byte
	seq     uint64
	rows    int
	written bool // something was written, or done
}

// run runs the statements in order.
func (g *gathered) run(ctx context.Context, list []fenec.Statement, query func(context.Context, string, ...any) (*fenec.Result, error)) error {
	for i, st := range list {
		res, err := query(ctx, st.Text, st.Args...)
		if err == nil {
			err = g.add(res)
		}
		if err != nil {
			return &fenec.BatchError{At: i, Err: err}
		}
	}
	return nil
}

func (g *gathered) add(res *fenec.Result) (err error) {
	if len(g.body) > 0 {
		g.body = append(g.body, ',')
	}
	if g.body, err = appendBatched(g.body, res); err != nil {
		return err
	}
	g.seq = res.Seq()
	g.rows += rowsOf(res)
	g.written = g.written || res.Affected() > 0 || res.Kind() == fenec.KindMessage
	return nil
}

// answer answers with the results of all n statements.
func (g *gathered) answer(n int) Answer {
	body := append(strconv.AppendInt([]byte(`{"ok":`), int64(n), 10), `,"results":[`...)
	body = append(append(body, g.body...), "]}"...)
	return Answer{Status: http.StatusOK, Body: body, Seq: g.seq, rows: g.rows, nothing: !g.written}
}

// batchError tells which statement failed and how many stay.
func batchError(err error) Answer {
	var be *fenec.BatchError
	if !errors.As(err, &be) {
		return Error(err)
	}
	a := atStatement(Error(be.Err), be)
	if be.Completed > 0 {
		a.cause = err
	}
	return a
}

// atStatement says in an answer which statement failed and how many stay.
func atStatement(a Answer, be *fenec.BatchError) Answer {
	body := a.Body[:len(a.Body)-1] // without the brace
	body = strconv.AppendInt(append(body, `,"completed":`...), int64(be.Completed), 10)
	body = strconv.AppendInt(append(body, `,"at":`...), int64(be.At), 10)
	a.Body = append(body, '}')
	return a
}
