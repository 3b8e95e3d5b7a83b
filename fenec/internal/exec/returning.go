package exec

import (
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// returning is a compiled "returning": what a set or a del answers of each row.
type returning struct {
	columns *selection
	read    *expr.Expr // what a guard wants of rows that are shown, or nil
}

// returning compiles the clause; r may be nil.
func (k *compiler) returning(l *level, r *ql.Returning) (*returning, error) {
	if r == nil {
		return nil, nil
	}
	columns := make([]ql.Column, len(r.Paths))
	for i := range r.Paths {
		columns[i].Expr = &r.Paths[i]
	}
	out := new(returning)
	var err error
	if out.columns, err = compileSelection(l.c, columns); err != nil || k.opts.Guard == nil {
		return out, err
	}
	cond, err := k.opts.Guard.Read(l.col)
	if err != nil {
		return nil, err
	}
	out.read, err = k.test(l, cond)
	return out, err
}

// answer is what a run returns.
type answer struct {
	*returning
	*collector
}

// begin begins the answer of a run; r may be nil.
func (r *returning) begin(f *expr.Frame) answer {
	if r == nil {
		return answer{}
	}
	return answer{r, newCollector(r.columns, f, nil, nil)}
}

// show adds a row, unless a guard hides it, and makes the frame stand at it.
func (a answer) show(id uint64, b []byte) error {
	if a.returning == nil {
		return nil
	}
	if err := a.f.Stand(id, b); err != nil {
		return err
	}
	if a.read != nil {
		if ok, err := a.read.Test(a.f); !ok || err != nil {
			return err
		}
	}
	return a.Visit(plan.Row{ID: id, Data: b})
}

// rows returns what has been added, nil without a returning.
func (a answer) rows() *Result {
	if a.returning == nil {
		return nil
	}
	return a.res
}

// met returns why the number of rows is not the one required, if one is.
func met(require *int64, n int, what string) error {
	if require == nil || int64(n) == *require {
		return nil
	}
	return unmet(*require, n, what)
}
