package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Function is a scalar function of an embedder.
type Function struct {
	Least, Most int // arguments; Most is -1 without a bound
	Of          func(args []value.Value) (value.Value, error)
}

// plugin calls a Function.
type plugin struct {
	name string
	args []node
	of   func(args []value.Value) (value.Value, error)
}

func (c *Compiler) plugin(e *ql.Call, fn Function) (node, class, error) {
	if err := arity(e, fn.Least, fn.Most); err != nil {
		return nil, 0, err
	}
	nodes, class, err := c.parts(e.Args...)
	if err != nil {
		return nil, 0, err
	}
	// What it returns may change from call to call, and so it is never computed
	// with the text alone.
	return &plugin{e.Name, nodes, fn.Of}, max(class, perRun), nil
}

func (x *plugin) eval(f *Frame) (value.Value, error) {
	args := make([]value.Value, len(x.args))
	for i, n := range x.args {
		v, err := n.eval(f)
		if err != nil {
			return value.Null, err
		}
		args[i] = v
	}
	v, err := x.of(args)
	if err != nil && fault.KindOf(err) == 0 {
		err = &fault.Error{Kind: fault.Plugin, Msg: x.name + ": " + err.Error(), Err: err}
	}
	return v, err
}
