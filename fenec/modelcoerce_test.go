package fenec_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// coerce returns v as a field of that type holds it.
func coerce(t *ql.TypeDef, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch t.Kind {
	case ql.TypeJSON:
		return coerceJSON(v)
	case ql.TypeList:
		return coerceList(t.Elem, v)
	case ql.TypeVector:
		return coerceVector(t, v)
	case ql.TypeSparse:
		if s, ok := v.(string); ok {
			return parseSparse(s, int(t.Dim))
		}
	case ql.TypeGeo:
		return coercePoint(v)
	case ql.TypeBytes:
		return coerceBytes(v)
	}
	switch x := v.(type) {
	case bool:
		if t.Kind == ql.TypeBool {
			return x, nil
		}
	case int64:
		switch t.Kind {
		case ql.TypeInt:
			return x, nil
		case ql.TypeFloat:
			return float64(x), nil
		case ql.TypeTimestamp:
			return moment(x), nil
		}
	case float64:
		switch {
		case t.Kind == ql.TypeFloat:
			return x, nil
		case t.Kind == ql.TypeInt && x == math.Trunc(x) && math.Abs(x) < 1<<63:
			return int64(x), nil
		}
	case moment:
		switch t.Kind {
		case ql.TypeTimestamp:
			return x, nil
		case ql.TypeInt:
			return int64(x), nil
		case ql.TypeText:
			return x.String(), nil
		}
	case string:
		switch t.Kind {
		case ql.TypeText:
			return x, nil
		case ql.TypeTimestamp:
			if m, ok := parseMoment(x); ok {
				return m, nil
			}
		}
	case sparse:
		if t.Kind == ql.TypeSparse && x.dim == int(t.Dim) {
			return x, nil
		}
	}
	return nil, fenec.ErrType
}

func coerceList(elem *ql.TypeDef, v any) (any, error) {
	list, ok := v.([]any)
	if w, is := v.(vector); is {
		list, ok = vectorItems(w), true
	}
	if !ok {
		return nil, fenec.ErrType
	}
	out := make([]any, len(list))
	for i := range list {
		var err error
		if out[i], err = coerce(elem, list[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// coerceVector makes a vector. Those of the model have components that fit 16
// bits, but for some that are far beyond.
func coerceVector(t *ql.TypeDef, v any) (any, error) {
	items, ok := v.([]any)
	if x, is := v.(vector); is {
		items, ok = vectorItems(x), true
	}
	if !ok || len(items) != int(t.Dim) {
		return nil, fenec.ErrType
	}
	out := make(vector, len(items))
	for i, e := range items {
		if !plainNumber(e) || t.Half && math.Abs(number(e)) > 65504 {
			return nil, fenec.ErrType
		}
		if out[i] = float32(number(e)); math.IsInf(float64(out[i]), 0) {
			return nil, fenec.ErrType
		}
	}
	return out, nil
}

func coerceBytes(v any) (any, error) {
	switch x := v.(type) {
	case blob:
		return x, nil
	case string:
		return blob(x), nil
	case []any:
		var b []byte
		for _, e := range x {
			if !plainNumber(e) || number(e) != math.Trunc(number(e)) || number(e) < 0 || number(e) > 255 {
				return nil, fenec.ErrType
			}
			b = append(b, byte(number(e)))
		}
		return blob(b), nil
	}
	return nil, fenec.ErrType
}

func coerceJSON(v any) (any, error) {
	switch x := v.(type) {
	case moment:
		return x.String(), nil
	case blob, sparse:
		return nil, fenec.ErrType
	case vector:
		return coerceJSON(vectorItems(x))
	case []any:
		out := make([]any, len(x))
		for i := range x {
			var err error
			if out[i], err = coerceJSON(x[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for k := range x {
			var err error
			if out[k], err = coerceJSON(x[k]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func coercePoint(v any) (any, error) {
	p, err := corners(v, 2)
	if err != nil {
		return nil, err
	}
	return []any{p[0] + 0, p[1] + 0}, nil // no minus zero
}

// corners returns the coordinates of a point, or of the two of a box: a
// longitude, a latitude and so on.
func corners(v any, n int) ([]float64, error) {
	items, ok := v.([]any)
	if x, is := v.(vector); is {
		items, ok = vectorItems(x), true
	}
	if !ok || len(items) != n {
		return nil, fenec.ErrType
	}
	out := make([]float64, n)
	for i, e := range items {
		if !plainNumber(e) || math.Abs(number(e)) > []float64{180, 90}[i%2] {
			return nil, fenec.ErrType
		}
		out[i] = number(e)
	}
	return out, nil
}

// parseSparse reads the text form of a sparse vector of that dimension.
func parseSparse(s string, dim int) (any, error) {
	body, ok := strings.CutSuffix(s, fmt.Sprintf("}/%d", dim))
	if !ok || !strings.HasPrefix(body, "{") {
		return nil, fenec.ErrType
	}
	out, seen := sparse{dim: dim}, map[int]bool{}
	for _, part := range strings.Split(body[1:], ",") {
		index, weight, _ := strings.Cut(strings.TrimSpace(part), ":")
		i, err := strconv.Atoi(index)
		f, err2 := strconv.ParseFloat(weight, 32)
		if err != nil || err2 != nil || i < 1 || i > dim || seen[i] {
			return nil, fenec.ErrType
		}
		if seen[i] = true; f != 0 {
			out.entries = append(out.entries, sparseEntry{i, float32(f)})
		}
	}
	slices.SortFunc(out.entries, func(a, b sparseEntry) int { return cmp.Compare(a.index, b.index) })
	return out, nil
}

func (m moment) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

func (m moment) String() string {
	if m%1000 == 0 {
		return m.Time().Format("2006-01-02T15:04:05Z")
	}
	return m.Time().Format("2006-01-02T15:04:05.000Z")
}

func parseMoment(s string) (moment, bool) {
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000Z", "2006-01-02 15:04:05-0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return moment(t.UnixMilli()), true
		}
	}
	return 0, false
}

// setPath returns what v becomes when the place under keys is given a value.
func setPath(v any, keys []string, to any) (any, error) {
	if len(keys) == 0 {
		return to, nil
	}
	object, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, fenec.ErrType
	}
	out := map[string]any{}
	for k := range object {
		out[k] = object[k]
	}
	var err error
	out[keys[0]], err = setPath(object[keys[0]], keys[1:], to)
	return out, err
}

// getPath returns what v holds under keys.
func getPath(v any, keys []string) any {
	for _, k := range keys {
		object, _ := v.(map[string]any)
		v = object[k]
	}
	return v
}
