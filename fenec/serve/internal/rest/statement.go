package rest

import (
	"bytes"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
)

// Answer says what the answer to a request looks like.
type Answer uint8

// The answers.
const (
	Rows     Answer = iota + 1 // [{…},…]
	Faceted                    // {"rows":[{…},…],"facets":{…}}
	Count                      // {"count":3}, with facets {"count":3,"facets":{…}}
	Inserted                   // {"inserted":3}
	Updated                    // {"updated":3}
	Deleted                    // {"deleted":3}
)

// Statement is what a request asks of the database.
type Statement struct {
	Text   string
	Args   []any
	Answer Answer
}

// Writes reports whether the statement changes documents.
func (st *Statement) Writes() bool { return st.Answer >= Inserted }

// AppendJSON appends the answer that the statement's result makes.
func (st *Statement) AppendJSON(dst []byte, res *fenec.Result) ([]byte, error) {
	switch st.Answer {
	case Count:
		return appendCount(dst, res)
	case Inserted:
		dst = append(dst, `{"inserted":`...)
	case Updated:
		dst = append(dst, `{"updated":`...)
	case Deleted:
		dst = append(dst, `{"deleted":`...)
	default:
		return res.AppendJSON(dst)
	}
	return append(strconv.AppendInt(dst, int64(res.Affected()), 10), '}'), nil
}

// appendCount appends the one row of a count by itself, with the facets beside
// it if there are any.
func appendCount(dst []byte, res *fenec.Result) ([]byte, error) {
	all, err := res.AppendJSON(nil)
	if err != nil {
		return dst, err
	}
	if row, ok := bytes.CutPrefix(all, []byte("[")); ok {
		return append(dst, row[:len(row)-1]...), nil
	}
	rows, facets, _ := bytes.Cut(all, []byte("}]"))
	dst = append(append(dst, '{'), bytes.TrimPrefix(rows, []byte(`{"rows":[{`))...)
	return append(dst, facets...), nil
}
