package serve

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Do answers a request that has been let in.
func Do(ctx context.Context, db *fenec.DB, req Request) Answer {
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path := "/" + strings.Join(req.Path, "/")
	switch method + " " + path {
	case "GET /":
		return root(db)
	case "GET /collections":
		return collections(ctx, db)
	case "POST /query":
		return query(ctx, db, req.Body)
	case "POST /batch":
		return batch(ctx, db, req.Body)
	}
	if method == http.MethodOptions {
		return Answer{Status: http.StatusNoContent}
	}
	return Fail(http.StatusNotFound, "nothing at "+req.Method+" "+path)
}

// root answers GET / with the version and the collections' names.
func root(db *fenec.DB) Answer {
	body := value.AppendJSONString([]byte(`{"fenecdb":`), fenec.Version)
	body = append(body, `,"collections":[`...)
	for i, name := range db.Collections() {
		if i > 0 {
			body = append(body, ',')
		}
		body = value.AppendJSONString(body, name)
	}
	return OK(append(body, "]}"...))
}

// collections answers GET /collections with every schema.
func collections(ctx context.Context, db *fenec.DB) Answer {
	res, err := db.Query(ctx, "collections")
	if err != nil {
		return Error(err)
	}
	body, err := res.AppendJSON(nil)
	if err != nil {
		return Error(err)
	}
	return OK(body)
}

// query answers POST /query.
func query(ctx context.Context, db *fenec.DB, body []byte) Answer {
	st, err := parseStatement(body)
	if err != nil {
		return Fail(http.StatusBadRequest, err.Error())
	}
	res, err := db.Query(ctx, st.Text, st.Args...)
	if err != nil {
		return Error(err)
	}
	out, err := res.AppendJSON(nil)
	if err != nil {
		return Error(err)
	}
	a := Answer{Status: http.StatusOK, Body: out, Ran: true}
	if res.Wrote() {
		a.Seq = res.Seq()
	}
	return a
}

// batch answers POST /batch.
func batch(ctx context.Context, db *fenec.DB, body []byte) Answer {
	stmts, err := parseBatch(body)
	if err != nil {
		return Fail(http.StatusBadRequest, err.Error())
	}
	run := db.Batch
	if holdsCompact(stmts) {
		run = func(ctx context.Context, stmts []fenec.Statement) ([]*fenec.Result, error) {
			return oneByOne(ctx, db, stmts)
		}
	}
	results, err := run(ctx, stmts)
	if err != nil {
		return batchError(err)
	}
	out := append(strconv.AppendInt([]byte(`{"ok":`), int64(len(results)), 10), `,"results":[`...)
	for i, res := range results {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = res.AppendBatchJSON(out); err != nil {
			return Error(err)
		}
	}
	return Answer{Status: http.StatusOK, Body: append(out, "]}"...), Seq: results[len(results)-1].Seq(), Ran: true}
}

// holdsCompact reports whether a statement of the batch is a compact, which
// cannot be part of a block. Statements that do not parse are left to fail
// where they are run.
func holdsCompact(stmts []fenec.Statement) bool {
	for _, st := range stmts {
		if tree, err := ql.Parse(st.Text); err == nil {
			if _, ok := tree.(*ql.Compact); ok {
				return true
			}
		}
	}
	return false
}

// oneByOne runs statements each as a block of its own; those before a failing
// one stay.
func oneByOne(ctx context.Context, db *fenec.DB, stmts []fenec.Statement) ([]*fenec.Result, error) {
	results := make([]*fenec.Result, 0, len(stmts))
	for i, st := range stmts {
		res, err := db.Query(ctx, st.Text, st.Args...)
		if err != nil {
			return nil, &fenec.BatchError{At: i, Completed: i, Err: err}
		}
		results = append(results, res)
	}
	return results, nil
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
