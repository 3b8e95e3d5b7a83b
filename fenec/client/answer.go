package client

import (
	"fmt"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// newResult returns an answer as a Result.
func newResult(a inside.Answer) *fenec.Result { return inside.Result(a).(*fenec.Result) }

// result reads the answer of a single statement.
func (t *traits) result(a *answer) (*fenec.Result, error) {
	body := skipSpace(a.body)
	switch {
	case body == "":
		return nil, errForm
	case t.schemas:
		return t.ofSchemas(body, a.seq)
	case body[0] == '[':
		return t.ofRows(body, "", a.seq)
	}
	return t.ofObject(body, a.seq)
}

// ofObject reads an answer that is an object, as all of a batch are.
func (t *traits) ofObject(raw string, seq uint64) (*fenec.Result, error) {
	members, err := membersOf(raw)
	if err != nil {
		return nil, err
	}
	if err := noted(members); err != nil {
		return nil, err
	}
	if rows, ok := members.get("rows"); ok {
		facets, _ := members.get("facets")
		return t.ofRows(rows, facets, seq)
	}
	if schemas, ok := members.get("collections"); ok {
		return t.ofSchemas(schemas, seq)
	}
	if raw, ok := members.get("affected"); ok {
		n, err := numberOf(raw)
		return newResult(inside.Answer{Kind: uint8(fenec.KindAffected), Affected: int(n), Seq: seq, Wrote: true}), err
	}
	if raw, ok := members.get("message"); ok {
		text, err := textOf(raw)
		return newResult(inside.Answer{Kind: uint8(fenec.KindMessage), Message: text, Seq: seq, Wrote: true}), err
	}
	return nil, fmt.Errorf("an object of another kind: %.100s", raw)
}

// noted returns ErrAnswerGone for the note that a server keeps in place of a long
// answer.
func noted(members rawMembers) error {
	if _, ok := members.get("idempotent"); ok && len(members) == 1 {
		return ErrAnswerGone
	}
	return nil
}

func (t *traits) ofSchemas(raw string, seq uint64) (*fenec.Result, error) {
	if _, err := value.ParseJSONString(raw); err != nil {
		return nil, err
	}
	return newResult(inside.Answer{Kind: uint8(fenec.KindSchemas), Schemas: []byte(raw), Seq: seq}), nil
}

// ofRows reads rows, and facets if there are any.
func (t *traits) ofRows(raw, facets string, seq uint64) (*fenec.Result, error) {
	rows := table{lookup: t.lookup}
	rest, err := eachElement(raw, rows.add)
	if err != nil {
		return nil, err
	}
	if rest != "" {
		return nil, errForm
	}
	if facets != "" {
		if rows.given.Facets, err = readFacets(facets); err != nil {
			return nil, err
		}
	}
	return rowsResult(&rows, seq, !t.reads && (t.known || seq != 0)), nil
}

// rowsResult returns rows as a Result.
func rowsResult(rows *table, seq uint64, wrote bool) *fenec.Result {
	a := inside.Answer{Kind: uint8(fenec.KindRows), Rows: rows.result(), Seq: seq, Wrote: wrote}
	if wrote {
		a.Affected = a.Rows.Len()
	}
	return newResult(a)
}

// readFacets reads the facets of an answer.
func readFacets(raw string) ([]exec.FacetCounts, error) {
	members, err := membersOf(raw)
	if err != nil {
		return nil, err
	}
	out := make([]exec.FacetCounts, len(members))
	for i, m := range members {
		if out[i].Name, err = textOf(m.key); err != nil {
			return nil, err
		}
		counts, err := value.ParseJSONString(m.value)
		if err != nil || counts.Kind() != value.KindList {
			return nil, errForm
		}
		for _, c := range counts.AsList() {
			n, ok := member(c, "count")
			if !ok {
				return nil, errForm
			}
			v, _ := c.Get("value")
			out[i].Counts = append(out[i].Counts, exec.FacetCount{Value: v, Count: int64(n)})
		}
	}
	return out, nil
}
