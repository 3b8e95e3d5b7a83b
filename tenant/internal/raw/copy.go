package raw

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec"
)

// Copy is a tenant's database as replication has it, whatever its tenant's status.
type Copy interface {
	// Path is where the database is.
	Path() string

	// Use gives the open database until release is called, which must be soon.
	Use(ctx context.Context) (db *fenec.DB, release func(), err error)

	// Hold is Use for as long as ended is not closed.
	Hold(ctx context.Context) (db *fenec.DB, ended <-chan struct{}, release func(), err error)

	// Replace puts what has arrived in the place of the database, which it closes, or gives
	// it up. The next use opens what has come. With keep, what was replaced is in the trash
	// then, at the path that is returned: "" if there is no trash.
	Replace(ctx context.Context, a *fenec.Arrival, keep bool) (kept string, err error)

	// Failed is as the function Failed.
	Failed(err error)
}

// CopyOf returns the copy of a *tenant.Manager that has the name.
var CopyOf func(manager any, name string) Copy
