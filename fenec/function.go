package fenec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Function is a function that statements may call beside those of the language.
type Function struct {
	Least, Most int // arguments it takes; a Most of -1 is without a bound

	// Of returns the function's value. It is given arguments as Row.Value returns
	// columns, and may return what may be an argument of a statement. It is called
	// by many goroutines at once, some of which hold the write lock: it must not use
	// the database. It is taken to give the same for the same arguments within one
	// statement: a call whose arguments do not depend on the row may be made once.
	// What it returns without a kind of its own, or panics with,
	// becomes ErrPlugin.
	Of func(args []any) (any, error)
}

// functions returns an embedder's functions as expressions call them.
func functions(all map[string]Function) (map[string]expr.Function, error) {
	if len(all) == 0 {
		return nil, nil
	}
	out := make(map[string]expr.Function, len(all))
	for name, fn := range all {
		lower := strings.ToLower(name)
		if _, twice := out[lower]; twice {
			return nil, fmt.Errorf("options: two functions are named %q", lower)
		}
		if err := fn.check(lower); err != nil {
			return nil, fmt.Errorf("options: function %q: %w", name, err)
		}
		plugin := plugin{name, fn.Of}
		out[lower] = expr.Function{Least: fn.Least, Most: fn.Most, Of: plugin.call}
	}
	return out, nil
}

// check returns why fn cannot have that name.
func (fn Function) check(name string) error {
	switch {
	case !callable(name):
		return errors.New("the name is none that a statement can call")
	case expr.Builtin(name):
		return errors.New("the language has one of that name")
	case fn.Of == nil:
		return errors.New("it lacks an Of")
	case fn.Least < 0 || fn.Most < -1 || fn.Most >= 0 && fn.Most < fn.Least:
		return fmt.Errorf("it takes from %d to %d arguments", fn.Least, fn.Most)
	}
	return nil
}

// callable reports whether a statement can call a function of that name.
func callable(name string) bool {
	x, err := ql.ParseExpr(name + "()")
	call, ok := x.(*ql.Call)
	return err == nil && ok && call.Name == name
}

// plugin is a function as expressions call it.
type plugin struct {
	name string
	of   func(args []any) (any, error)
}

func (p plugin) call(args []value.Value) (value.Value, error) {
	in := make([]any, len(args))
	for i, v := range args {
		in[i] = v.Go()
	}
	out, err := p.recovered(in)
	if err != nil {
		return value.Null, err
	}
	v, err := value.FromGo(out)
	if err != nil {
		return value.Null, fault.New(fault.Plugin, "%s: it returned a %T: %s", p.name, out, message(err))
	}
	return v, nil
}

// recovered calls the function and makes a panic an error.
func (p plugin) recovered(args []any) (out any, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fault.New(fault.Plugin, "%s: it panicked: %v", p.name, x)
		}
	}()
	return p.of(args)
}
