package descr

import (
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// AppendJSON appends the description of s as a list of collections. An index that
// is still in the building is described as one that is there.
func (s *Schema) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"format":1,"collections":[`...)
	for i, name := range s.names {
		dst = appendCollection(comma(dst, i), s.find(name))
	}
	return append(dst, "]}"...)
}

// AppendText appends the description of s as FenecQL, a statement a line.
func (s *Schema) AppendText(dst []byte) []byte {
	var lines []string
	for _, name := range s.names {
		lines = append(lines, declaration(s.find(name))...)
	}
	dst = append(dst, `{"format":1,"fenecql":`...)
	return append(value.AppendJSONString(dst, strings.Join(lines, "\n")), '}')
}

// comma appends what separates item i of a list from the one before.
func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendCollection(dst []byte, c *catalog.Collection) []byte {
	dst = value.AppendJSONString(append(dst, `{"name":`...), c.Name)
	dst = append(dst, `,"fields":[`...)
	n := 0
	for at := range c.Fields {
		if !c.Fields[at].Dropped() {
			dst = appendField(comma(dst, n), c, at)
			n++
		}
	}
	return append(dst, "]}"...)
}

func appendField(dst []byte, c *catalog.Collection, at int) []byte {
	f := &c.Fields[at]
	dst = value.AppendJSONString(append(dst, `{"name":`...), f.Name)
	dst = value.AppendJSONString(append(dst, `,"type":`...), f.Type.String())
	if f.Required {
		dst = append(dst, `,"required":true`...)
	}
	if f.Collation != collation.None {
		dst = value.AppendJSONString(append(dst, `,"collate":`...), f.Collation.String())
	}
	index, paths := indexesOf(c, at)
	if index != nil {
		dst = appendIndex(append(dst, `,"index":`...), index)
	}
	if len(paths) == 0 {
		return append(dst, '}')
	}
	dst = append(dst, `,"paths":[`...)
	for i, x := range paths {
		dst = append(comma(dst, i), `{"path":`...)
		dst = value.AppendJSONString(dst, strings.Join(x.Keys, "."))
		dst = append(appendIndex(append(dst, `,"index":`...), x), '}')
	}
	return append(dst, "]}"...)
}

// indexesOf returns the index of the field at that place, nil if it has none, and
// those on paths below it.
func indexesOf(c *catalog.Collection, at int) (index *catalog.Index, paths []*catalog.Index) {
	for _, x := range c.Indexes() {
		switch {
		case x.Field != at:
		case x.Keys == nil:
			index = x
		default:
			paths = append(paths, x)
		}
	}
	return index, paths
}

// appendIndex appends an index with all its options, so that a description means
// the same whatever the defaults will be.
func appendIndex(dst []byte, x *catalog.Index) []byte {
	dst = append(append(dst, `{"kind":"`...), x.Kind.String()...)
	dst = append(dst, '"')
	switch x.Kind {
	case catalog.TTL:
		dst = appendNumber(dst, "ms", x.Period.Milliseconds())
	case catalog.Text:
		dst = appendText(dst, x.Text)
	case catalog.HNSW:
		dst = appendHNSW(dst, x.HNSW)
	}
	return append(dst, '}')
}

func appendText(dst []byte, o *catalog.TextOptions) []byte {
	dst = value.AppendJSONFloat(append(dst, `,"k1":`...), o.K1)
	dst = value.AppendJSONFloat(append(dst, `,"b":`...), o.B)
	dst = appendNumber(dst, "prefix", int64(o.Prefix))
	dst = appendNumber(dst, "prefix_min", int64(o.PrefixMin))
	if o.Chars {
		dst = append(dst, `,"chars":true`...)
	}
	return dst
}

func appendHNSW(dst []byte, o *catalog.HNSWOptions) []byte {
	dst = append(append(dst, `,"metric":"`...), o.Metric.String()...)
	dst = appendNumber(append(dst, '"'), "m", int64(o.M))
	dst = appendNumber(dst, "ef_construction", int64(o.EFConstruction))
	dst = appendNumber(dst, "ef_search", int64(o.EFSearch))
	if o.Quant != catalog.NoQuant {
		dst = append(append(dst, `,"quant":"`...), o.Quant...)
		dst = append(dst, '"')
	}
	return dst
}

func appendNumber(dst []byte, name string, n int64) []byte {
	dst = append(append(dst, `,"`...), name...)
	return strconv.AppendInt(append(dst, `":`...), n, 10)
}
