// Package inside is what package fenec tells the packages below it that is not
// for everybody. fenec sets the functions before anybody can call them.
package inside

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Collection returns the definition of a collection as view, a *fenec.DB or a
// *fenec.Session, knows it: nil if there is none, or none of whose rows anything
// may be done with.
var Collection func(view any, name string) *catalog.Collection

// Check returns why a statement cannot be compiled for view, whatever its parameters
// and the rows are: it does not parse, or names what there is not.
var Check func(view any, text string) error

// Query runs a statement as Query of view, a *fenec.DB or a *fenec.Session, does.
// Rows are answered in the memory of into, a *fenec.Result that an earlier Query
// returned or nil: nothing that it has told is good afterwards.
var Query func(ctx context.Context, view, into any, text string, args []any) (any, error)

// Recycle lets go of what a *fenec.Result has told, but for some memory that Query
// may use again.
var Recycle func(result any)

// Answer is what another process has answered a statement with.
type Answer struct {
	Kind     uint8        // a fenec.ResultKind
	Rows     *exec.Result // of KindRows
	Affected int
	Message  string
	Schemas  []byte // of KindSchemas: its JSON
	Seq      uint64 // 0 if it is not known
	Wrote    bool
}

// Result returns an answer as a *fenec.Result.
var Result func(Answer) any

// Doc returns a document that another process has told of as a *fenec.Doc. The
// names are those of its fields but the id.
var Doc func(collection string, id uint64, names []string, values []value.Value) any

// Subscription returns a *fenec.Subscription to the database of another process.
// next, a func(context.Context) (fenec.Event, error), and end are its Next and
// its Close.
var Subscription func(next any, end func() error) any
