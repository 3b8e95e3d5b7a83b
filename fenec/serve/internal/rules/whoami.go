package rules

import (
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// AppendJSON appends two members of a JSON object: the collections of the scope
// that are append-only, and the rules that apply, as
//
//	"append_only":["ledger"],"rules":[{"collection":"memos","grants":["read"],"fields":null,"rows":"owner = $jwt.sub"}]
//
// A collection on which nothing is granted is not told of.
func (s *Scope) AppendJSON(dst []byte) []byte {
	dst = append(dst, `"append_only":`...)
	dst = value.AppendJSONStrings(dst, s.appendOnly())
	dst = append(dst, `,"rules":[`...)
	for i, r := range s.rules {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.appendJSON(dst, r.effective(s.file))
	}
	return append(dst, ']')
}

// appendOnly returns the names that are append-only and on which something is
// granted.
func (s *Scope) appendOnly() []string {
	var out []string
	for _, name := range s.file.appendOnly {
		if len(s.file.rulesOf(name, s.rules)) > 0 || name == every && len(s.rules) > 0 {
			out = addNew(out, name)
		}
	}
	return out
}

// effective returns what r grants: no changes where all it is about is append-only.
func (r *rule) effective(f *File) grants {
	if f.onlyAppends(r.collection) {
		return r.grants &^ changes
	}
	return r.grants
}

func (r *rule) appendJSON(dst []byte, granted grants) []byte {
	dst = value.AppendJSONString(append(dst, `{"collection":`...), r.collection)
	dst = value.AppendJSONStrings(append(dst, `,"grants":`...), granted.names())
	dst = append(dst, `,"fields":`...)
	if r.fields == nil {
		dst = append(dst, "null"...)
	} else {
		dst = value.AppendJSONStrings(dst, r.fields)
	}
	dst = append(dst, `,"rows":`...)
	if r.filter == nil {
		return append(dst, "null}"...)
	}
	return append(value.AppendJSONString(dst, r.filter.written), '}')
}

func (g grants) names() []string {
	var out []string
	for _, x := range grantNames {
		if g&x.grant != 0 {
			out = append(out, x.name)
		}
	}
	return out
}
