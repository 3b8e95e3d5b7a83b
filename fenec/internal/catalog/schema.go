package catalog

import "github.com/fenec-go/fenecdb/fenec/internal/value"

// AppendSchemaJSON appends the collection's schema as an answer gives it:
//
//	{"name":"books","fields":[{"name":"title","type":"text","index":null,"required":true},…]}
//
// Type and index are spelt as a declaration takes them, so that the collection
// can be declared again from it.
func (c *Collection) AppendSchemaJSON(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = value.AppendJSONString(dst, c.Name)
	dst = append(dst, `,"fields":[`...)
	for i := range c.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.Fields[i].appendSchemaJSON(dst)
	}
	return append(dst, ']', '}')
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
		dst = value.AppendJSONString(dst, f.Index.Kind.String())
	}
	dst = append(dst, `,"required":`...)
	if f.Required {
		dst = append(dst, "true"...)
	} else {
		dst = append(dst, "false"...)
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
