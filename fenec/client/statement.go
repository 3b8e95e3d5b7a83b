package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
)

// Query runs one statement as fenec.DB.Query does.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*fenec.Result, error) {
	body, err := appendStatement(nil, fenec.Statement{Text: text, Args: args})
	if err != nil {
		return nil, err
	}
	t := traitsOf(text)
	var res *fenec.Result
	err = db.send(ctx, db.query(ctx, body, &t), func(a *answer) (err error) {
		res, err = t.result(a)
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// Exec runs one statement as fenec.DB.Exec does.
func (db *DB) Exec(ctx context.Context, text string, args ...any) (int, error) {
	res, err := db.Query(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.Affected(), nil
}

// Batch runs statements as fenec.DB.Batch does. One that holds a compact is no
// block: each statement runs by itself, and the error of one that fails says how
// many stay.
func (db *DB) Batch(ctx context.Context, stmts []fenec.Statement) ([]*fenec.Result, error) {
	if len(stmts) == 0 {
		return nil, ctx.Err()
	}
	var body []byte
	kinds := make([]traits, len(stmts))
	together := traits{reads: true}
	for i, one := range stmts {
		var err error
		if body, err = appendStatement(body, one); err != nil {
			return nil, &fenec.BatchError{At: i, Err: err}
		}
		body = append(body, '\n')
		kinds[i] = traitsOf(one.Text)
		together.reads = together.reads && kinds[i].reads
		together.keyless = together.keyless || kinds[i].keyless
	}
	rq := db.query(ctx, body, &together)
	rq.path, rq.media = "/batch", "application/x-ndjson"
	var out []*fenec.Result
	err := db.send(ctx, rq, func(a *answer) (err error) {
		out, err = batchResults(a, kinds)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// query returns the request of a statement.
func (db *DB) query(ctx context.Context, body []byte, t *traits) *request {
	rq := &request{method: http.MethodPost, path: "/query", body: body, media: "application/json", reads: t.reads}
	key, given := ctx.Value(keyKey{}).(string)
	switch {
	case t.reads:
		rq.after = db.after(ctx)
	case given:
		rq.key = key
	case !t.keyless && !db.opts.NoKeys:
		rq.key = rand.Text()
	}
	return rq
}

// batchResults reads the answer of a batch.
func batchResults(a *answer, kinds []traits) (out []*fenec.Result, err error) {
	members, err := membersOf(a.body)
	if err != nil {
		return nil, err
	}
	if err := noted(members); err != nil {
		return nil, err
	}
	results, ok := members.get("results")
	if !ok {
		return nil, errors.New("no results")
	}
	rest, err := eachElement(results, func(raw string) error {
		if len(out) == len(kinds) {
			return fmt.Errorf("more than %d results", len(kinds))
		}
		res, err := kinds[len(out)].ofObject(raw, a.seq)
		out = append(out, res)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case rest != "" || len(out) < len(kinds):
		return nil, fmt.Errorf("%d results, want %d", len(out), len(kinds))
	}
	return out, nil
}
