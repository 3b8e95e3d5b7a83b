package client

import (
	"context"
	"iter"

	"github.com/fenec-go/fenecdb/fenec"
)

// Database is what statements are run on: an embedded database, a session of one,
// or a served database.
type Database interface {
	Query(ctx context.Context, text string, args ...any) (*fenec.Result, error)
	Exec(ctx context.Context, text string, args ...any) (int, error)
	Batch(ctx context.Context, stmts []fenec.Statement) ([]*fenec.Result, error)
	Rows(ctx context.Context, text string, args ...any) iter.Seq2[fenec.Row, error]
	Subscribe(ctx context.Context, shape fenec.Shape, since uint64) (*fenec.Subscription, error)
}

var (
	_ Database = (*fenec.DB)(nil)
	_ Database = (*fenec.Session)(nil)
	_ Database = (*DB)(nil)
)
