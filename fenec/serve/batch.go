package serve

import (
	"context"
	"errors"
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
	results, err := c.view.Batch(ctx, list)
	if err != nil {
		return c.fail(err)
	}
	return together(results)
}

// batchOfWrites runs statements as one block, or one by one when one of them is
// a compact, which cannot be part of a block.
func (c *call) batchOfWrites(ctx context.Context, list []fenec.Statement, kinds []*traits, compacts bool) Answer {
	if refusal := c.claims(kinds); refusal != nil {
		return *refusal
	}
	key, refusal := c.key(compacts)
	if refusal != nil {
		return *refusal
	}
	if refusal := c.mayWrite(); refusal != nil {
		return *refusal
	}
	if key != nil {
		return c.keyed(ctx, *key, func(tx *fenec.Tx) (Answer, error) {
			results := make([]*fenec.Result, len(list))
			for i, st := range list {
				var err error
				if results[i], err = tx.Query(ctx, st.Text, st.Args...); err != nil {
					return Answer{}, &fenec.BatchError{At: i, Err: err}
				}
			}
			a := together(results)
			return a, a.Err
		})
	}
	run := c.view.Batch
	if compacts {
		run = c.oneByOne
	}
	results, err := run(ctx, list)
	if err != nil {
		return c.fail(err)
	}
	return together(results)
}

// oneByOne runs statements each as a block of its own; those before a failing
// one stay.
func (c *call) oneByOne(ctx context.Context, list []fenec.Statement) ([]*fenec.Result, error) {
	results := make([]*fenec.Result, 0, len(list))
	for i, st := range list {
		res, err := c.view.Query(ctx, st.Text, st.Args...)
		if err != nil {
			return nil, &fenec.BatchError{At: i, Completed: i, Err: err}
		}
		results = append(results, res)
	}
	return results, nil
}

// together answers with the results of all statements of a batch.
func together(results []*fenec.Result) Answer {
	a := Answer{Status: http.StatusOK, Seq: results[len(results)-1].Seq(), nothing: true}
	body := append(strconv.AppendInt([]byte(`{"ok":`), int64(len(results)), 10), `,"results":[`...)
	var err error
	for i, res := range results {
		if i > 0 {
			body = append(body, ',')
		}
		if body, err = res.AppendBatchJSON(body); err != nil {
			return Error(err)
		}
		a.rows += rowsOf(res)
		a.nothing = a.nothing && res.Affected() == 0 && res.Kind() != fenec.KindMessage
	}
	a.Body = append(body, "]}"...)
	return a
}

// batchError tells which statement failed and how many stay.
func batchError(err error) Answer {
	var be *fenec.BatchError
	if !errors.As(err, &be) {
		return Error(err)
	}
	a := Error(be.Err)
	body := a.Body[:len(a.Body)-1] // without the brace
	body = strconv.AppendInt(append(body, `,"completed":`...), int64(be.Completed), 10)
	body = strconv.AppendInt(append(body, `,"at":`...), int64(be.At), 10)
	a.Body = append(body, '}')
	return a
}
