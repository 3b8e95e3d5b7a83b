package fenec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func init() {
	inside.Collection = func(view any, name string) *catalog.Collection {
		s, ok := view.(*Session)
		if !ok {
			s = &view.(*DB).own
		}
		cat := s.db.catalogNow()
		if s.knows(cat, name) != nil {
			return nil
		}
		return cat.Find(name)
	}
	inside.Result = func(a inside.Answer) any {
		res := &Result{kind: ResultKind(a.Kind), rows: a.Rows, affected: a.Affected, message: a.Message, seq: a.Seq, wrote: a.Wrote}
		res.served = a.Schemas
		if a.Rows != nil {
			res.columns = a.Rows.Columns()
		}
		return res
	}
	inside.Doc = func(collection string, id uint64, names []string, values []value.Value) any {
		c := &catalog.Collection{Name: collection}
		types := make([]value.Type, len(names))
		for i, name := range names {
			types[i] = value.TypeJSON
			c.Fields = append(c.Fields, catalog.Field{Name: name, Type: types[i]})
		}
		return &Doc{c, id, row.Encode(nil, types, values)}
	}
	inside.Subscription = func(next any, end func() error) any {
		return &Subscription{served: &servedEvents{next.(func(context.Context) (Event, error)), end}}
	}
}

// servedEvents is what a Subscription to the database of another process does.
type servedEvents struct {
	next func(context.Context) (Event, error)
	end  func() error
}
