package openapi

import "github.com/fenec-go/fenecdb/fenec/internal/catalog"

// near describes the search for documents near a vector, a sparse vector or a
// point in one of these fields.
func (c collection) near(fields []string) *operation {
	o := c.operation("near", "Finds the documents nearest to a vector, the best first.")
	o.Parameters = c.filters()
	m := map[string]*schema{
		"vector":     c.vector(fields),
		"field":      {Type: "string", Enum: fields, Description: "needed unless exactly one field holds vectors"},
		"limit":      whole(0),
		"offset":     whole(0),
		"ef":         described(whole(0), "how many candidates are kept"),
		"exact":      {Type: "boolean", Description: "measures every document"},
		"select":     oneOf(list(text()), text()),
		"where":      described(text(), "a condition in FenecQL"),
		"candidates": described(whole(0), "how many each side brings to be fused"),
		"fuse_k":     described(whole(0), "what is added to a rank before ranks are fused"),
	}
	matched := c.with(func(f *catalog.Field) bool { return f.Index != nil && f.Index.Kind == catalog.Text })
	if len(matched) > 0 {
		m["match"] = described(text(), "words to be found too")
		m["match_field"] = &schema{Type: "string", Enum: matched}
	}
	o.Body = needs(object(m, "vector"))
	o.Responses = answers("200", "the documents with their scores", list(c.scored()))
	return o
}

// vector is what may be searched for in one of these fields.
func (c collection) vector(fields []string) *schema {
	var kinds []*schema
	for _, name := range fields {
		at, _ := c.Position(name)
		s := typed(c.Fields[at].Type)
		kinds = append(kinds, described(s, "for "+name))
	}
	if len(kinds) == 1 {
		return kinds[0]
	}
	return &schema{AnyOf: kinds}
}

// scored is a row of an answer that is ranked.
func (c collection) scored() *schema {
	s := c.row()
	s.Properties["_score"] = &schema{Type: "number", Format: "double"}
	return s
}
