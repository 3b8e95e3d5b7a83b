package exec

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// near compiles a near by the type of its field.
func (k *compiler) near(l *level, s *ql.Near) (ranker, error) {
	at, err := fieldAt(l.col, s.Field.Text)
	if err != nil {
		return nil, err
	}
	f := &l.col.Fields[at]
	if s.EF != nil && !f.Type.Is(value.BaseVector) {
		return nil, fault.New(fault.Query, "near %s: ef is for vectors, the field is %s", f.Name, f.Type)
	}
	x, err := given(l, s.Vector)
	if err != nil {
		return nil, err
	}
	switch {
	case f.Type.Is(value.BaseGeo):
		return &nearPoint{at, x, indexOf(l.col, f, catalog.Geo)}, nil
	case f.Type.Is(value.BaseSparse):
		return &nearSparse{at, f.Type, x, indexOf(l.col, f, catalog.Inverted), s.Exact}, nil
	case !f.Type.Is(value.BaseVector):
		return nil, fault.New(fault.Query, "near %s: the field is %s, want a vector, a sparse vector or a point", f.Name, f.Type)
	}
	index := indexOf(l.col, f, catalog.HNSW)
	if index == nil {
		return nil, fault.New(fault.Query, "near %s: the field needs an index @hnsw", f.Name)
	}
	n := &nearVector{vectors{at, f.Type, index.HNSW.Metric, x}, index, index.HNSW.EFSearch, s.Exact}
	if s.EF != nil {
		n.ef = int(min(*s.EF, maxRanked))
	}
	return n, nil
}

// indexOf returns the index of f if it has one of that kind with the entries of
// all rows.
func indexOf(c *catalog.Collection, f *catalog.Field, kind catalog.IndexKind) *catalog.Index {
	if f.Index == nil || f.Index.Kind != kind || !c.Built(f.Index) {
		return nil
	}
	return f.Index
}
