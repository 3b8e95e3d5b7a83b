package catalog

import (
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// AppendSchemaJSON appends the collection's schema as an answer gives it:
//
//	{"name":"books","fields":[{"name":"title","type":"text","index":null,"required":true},…]}
//
// A collated field has a "collate" behind, and a collection with indexes on
// paths a list of them:
//
//	"paths":[{"path":"meta.kind","index":"hash"},…]
//
// Types, indexes and collations are spelt as a declaration takes them, so that
// the collection can be declared again from it.
func (c *Collection) AppendSchemaJSON(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = value.AppendJSONString(dst, c.Name)
	dst = append(dst, `,"fields":[`...)
	first := true
	for i := range c.Fields {
		if c.Fields[i].Dropped() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		dst, first = c.Fields[i].appendSchemaJSON(dst), false
	}
	dst = append(dst, ']')
	if len(c.Paths) > 0 {
		dst = c.appendPathsJSON(dst)
	}
	return append(dst, '}')
}

func (c *Collection) appendPathsJSON(dst []byte) []byte {
	dst = append(dst, `,"paths":[`...)
	for i, x := range c.Paths {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"path":`...)
		dst = value.AppendJSONString(dst, c.PathName(x))
		dst = append(dst, `,"index":`...)
		dst = value.AppendJSONString(dst, x.String())
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func (f *Field) appendSchemaJSON(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = value.AppendJSONString(dst, f.Name)
	dst = append(dst, `,"type":`...)
	dst = value.AppendJSONString(dst, f.Type.String())
	dst = append(dst, `,"index":`...)
	if f.Index == nil {
		dst = append(dst, "null"...)
	} else {
		dst = value.AppendJSONString(dst, f.Index.String())
	}
	dst = append(dst, `,"required":`...)
	if f.Required {
		dst = append(dst, "true"...)
	} else {
		dst = append(dst, "false"...)
	}
	if f.Collation != collation.None {
		dst = append(dst, `,"collate":`...)
		dst = value.AppendJSONString(dst, f.Collation.String())
	}
	return append(dst, '}')
}

// AppendSchemasJSON appends the schemas of collections as a list.
func AppendSchemasJSON(dst []byte, collections []*Collection) []byte {
	dst = append(dst, '[')
	for i, c := range collections {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.AppendSchemaJSON(dst)
	}
	return append(dst, ']')
}
