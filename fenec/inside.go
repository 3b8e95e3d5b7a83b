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
		s := sessionOf(view)
		cat := s.db.catalogNow()
		if s.knows(cat, name) != nil {
			return nil
		}
		return cat.Find(name)
	}
	inside.Check = func(view any, text string) error {
		s := sessionOf(view)
		st, err := s.prepare(text)
		if err == nil {
			_, err = st.compile(s.db.catalogNow())
		}
		return public(err)
	}
	inside.Query = func(ctx context.Context, view, into any, text string, args []any) (any, error) {
		res, _ := into.(*Result)
		return sessionOf(view).queryInto(ctx, res, text, args)
	}
	inside.Recycle = func(result any) { result.(*Result).recycle() }
	inside.Result = func(a inside.Answer) any {
		res := &Result{kind: ResultKind(a.Kind), rows: a.Rows, affected: a.Affected, seq: a.Seq, wrote: a.Wrote}
		if res.kind == KindMessage || res.kind == KindSchemas {
			res.told = &told{message: a.Message, served: a.Schemas}
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

// sessionOf returns the session that a view, a *DB or a *Session, is or has.
func sessionOf(view any) *Session {
	if s, ok := view.(*Session); ok {
		return s
	}
	return &view.(*DB).own
}

// servedEvents is what a Subscription to the database of another process does.
type servedEvents struct {
	next func(context.Context) (Event, error)
	end  func() error
}
