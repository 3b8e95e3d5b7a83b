package fenec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// WithStep returns o with a function that is told every step of commits,
// checkpoints and opens before it is taken.
func (o Options) WithStep(step func(string)) Options {
	o.step = step
	return o
}

// WithFiles returns o with the file system that the log is to lie in.
func (o Options) WithFiles(files wal.FS) Options {
	o.files = files
	return o
}

// PolicyStatements returns how many statements are kept that were prepared for
// sessions of policies.
func (db *DB) PolicyStatements() int { return len(db.guarded.young) }

// Plant puts a vector into the graph of a field, under an id that no row has.
func (db *DB) Plant(ctx context.Context, collection, field string, id uint64, v []float32) error {
	c := db.catalogNow().Find(collection)
	at, _ := c.Position(field)
	g, err := db.graphs.Graph(ctx, c, c.Fields[at].Index)
	if err != nil {
		return err
	}
	return g.Insert(id, v)
}
