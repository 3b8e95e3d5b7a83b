package fenec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// Warm loads the graphs of the @hnsw indexes of the collections, or of all, which
// the first search of each would else wait for. They are held until the database
// is closed. When ctx ends, the one at hand goes on being loaded.
func (db *DB) Warm(ctx context.Context, collections ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	list, err := db.collections(collections)
	if err != nil {
		return err
	}
	for _, c := range list {
		for _, x := range vectorIndexes(c) {
			if _, err := db.graphs.Graph(ctx, c, x); err != nil {
				return public(err)
			}
		}
	}
	return nil
}

// collections returns the named collections; all, if there are no names.
func (db *DB) collections(names []string) ([]*catalog.Collection, error) {
	r, err := db.store.Read()
	if err != nil {
		return nil, public(err)
	}
	defer r.End()
	cat := db.catalogAt(r.Seq())
	if len(names) == 0 {
		return cat.Collections(), nil
	}
	list := make([]*catalog.Collection, len(names))
	for i, name := range names {
		if list[i], err = cat.Collection(name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// vectorIndexes returns the indexes of c that have graphs and are built.
func vectorIndexes(c *catalog.Collection) (out []*catalog.Index) {
	for _, x := range c.Indexes() {
		if x.Kind == catalog.HNSW && c.Built(x) {
			out = append(out, x)
		}
	}
	return out
}

// unlinked returns how many changes of vectors of c the graphs have not taken up.
func (db *DB) unlinked(v *store.View, c *catalog.Collection) (n int64, err error) {
	r := table.NewReader(v, c)
	for _, x := range vectorIndexes(c) {
		linked, ok := db.graphs.Linked(x.Space)
		if !ok {
			if linked, err = r.Linked(x); err != nil {
				return 0, err
			}
		}
		waiting, err := r.Unlinked(x, linked)
		if err != nil {
			return 0, err
		}
		n += waiting
	}
	return n, nil
}
