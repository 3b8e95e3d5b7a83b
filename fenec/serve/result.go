package serve

import (
	"errors"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
)

// single answers with the result of one statement. The answer's body is the call's
// memory: there is one such answer at a time.
func (c *call) single(res *fenec.Result) Answer {
	return c.listed(res, headOf(res), whole)
}

// headOf returns the answer of a statement without its body.
func headOf(res *fenec.Result) Answer {
	a := Answer{Status: http.StatusOK, wrote: res.Wrote()}
	if a.wrote {
		a.Seq = res.Seq()
		a.nothing = res.Affected() == 0 && res.Kind() != fenec.KindMessage
	}
	return a
}

// rowsOf returns how many rows a result answers, or else how many were written.
func rowsOf(res *fenec.Result) int {
	if res.Kind() == fenec.KindRows {
		return res.Len()
	}
	return res.Affected()
}

// listsRows reports whether a result is answered with a list of rows and nothing
// else.
func listsRows(res *fenec.Result) bool {
	return res.Kind() == fenec.KindRows && len(res.Facets()) == 0
}

// complete answers with a result that has to be there as a whole before its head
// goes: because it is part of a block, or is more than rows.
func (c *call) complete(res *fenec.Result, head Answer) Answer {
	body, err := appendResult(c.out[:0], res)
	if err != nil {
		return Error(err)
	}
	c.out, head.Body, head.rows = body, body, rowsOf(res)
	return head
}

// longestComplete is the longest body that such an answer has, in bytes. Tests lower
// it.
var longestComplete = 64 << 20

// errTooLong refuses to answer more.
var errTooLong = errors.New("the answer passes 64 MiB: ask for less at once")

// appendResult appends the JSON of a single statement's result, unless dst becomes
// longer than an answer may be.
func appendResult(dst []byte, res *fenec.Result) (_ []byte, err error) {
	if !listsRows(res) {
		return checked(res.AppendJSON(dst))
	}
	sep := byte('[')
	for res.Next() {
		if dst, err = checked(res.Row().AppendJSON(append(dst, sep))); err != nil {
			return dst, err
		}
		sep = ','
	}
	if sep == '[' {
		dst = append(dst, sep)
	}
	return append(dst, ']'), nil
}

// appendBatched appends the JSON of a result within a batch as appendResult does.
func appendBatched(dst []byte, res *fenec.Result) (_ []byte, err error) {
	if !listsRows(res) {
		return checked(res.AppendBatchJSON(dst))
	}
	dst, err = appendResult(append(dst, `{"rows":`...), res)
	return append(dst, '}'), err
}

// checked returns what was appended to, or why it is no answer.
func checked(dst []byte, err error) ([]byte, error) {
	if err == nil && len(dst) > longestComplete {
		err = errTooLong
	}
	return dst, err
}
