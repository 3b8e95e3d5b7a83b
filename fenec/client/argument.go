package client

import (
	"bytes"
	"math"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// appendStatement appends the JSON form of a statement.
func appendStatement(dst []byte, st fenec.Statement) ([]byte, error) {
	dst = value.AppendJSONString(append(dst, `{"query":`...), st.Text)
	dst = append(dst, `,"params":[`...)
	for i, arg := range st.Args {
		if i > 0 {
			dst = append(dst, ',')
		}
		v, err := argument(i, arg)
		if err != nil {
			return dst, err
		}
		if dst, err = appendArgument(dst, v); err != nil {
			return dst, badArgument(i, err)
		}
	}
	return append(dst, "]}"...), nil
}

// argument converts argument i.
func argument(i int, arg any) (value.Value, error) {
	v, err := value.FromGo(arg)
	if err != nil {
		return v, badArgument(i, err)
	}
	return v, nil
}

// badArgument says of which parameter err tells.
func badArgument(i int, err error) error {
	msg := err.Error()
	if f, ok := err.(*fault.Error); ok {
		msg = f.Msg
	}
	return fault.New(fault.Type, "parameter $%d: %s", i+1, msg)
}

// appendArgument appends v as JSON that reads back as what it is: a float always
// with a point or an exponent, as a number with neither is an int.
func appendArgument(dst []byte, v value.Value) ([]byte, error) {
	switch v.Kind() {
	case value.KindFloat:
		f := v.AsFloat()
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return dst, fault.New(fault.Type, "%s cannot be sent", v)
		}
		start := len(dst)
		return pointed(strconv.AppendFloat(dst, f, 'g', -1, 64), start), nil
	case value.KindVector:
		return appendVector(dst, v.AsVector())
	case value.KindList:
		dst = append(dst, '[')
		for i, e := range v.AsList() {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendArgument(dst, e); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case value.KindObject:
		return appendObject(dst, v.AsObject())
	}
	return value.AppendJSON(dst, v), nil
}

func appendObject(dst []byte, members []value.Member) ([]byte, error) {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(value.AppendJSONString(dst, m.Key), ':')
		var err error
		if dst, err = appendArgument(dst, m.Value); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendVector(dst []byte, x []float32) ([]byte, error) {
	dst = append(dst, '[')
	for i, f := range x {
		if f-f != 0 {
			return dst, fault.New(fault.Type, "a vector with a number at %d that is not finite cannot be sent", i)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		start := len(dst)
		dst = pointed(value.AppendJSONFloat32(dst, f), start)
	}
	return append(dst, ']'), nil
}

// pointed gives the number from start on a point if it has none.
func pointed(dst []byte, start int) []byte {
	if bytes.ContainsAny(dst[start:], ".e") {
		return dst
	}
	return append(dst, ".0"...)
}
