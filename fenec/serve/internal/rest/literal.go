package rest

import (
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// literal reads the text of a filter as a value of type t. what names the field.
func literal(what string, t value.Type, text string) (v value.Value, err error) {
	if err := filterable(what, t); err != nil {
		return v, err
	}
	ok := true
	switch t.Base() {
	case value.BaseInt:
		v, ok = parseInt(text)
	case value.BaseFloat:
		v, ok = parseFloat(text)
	case value.BaseBool:
		v, ok = parseBool(text)
	case value.BaseText:
		v = value.Text(text)
	case value.BaseTimestamp:
		v, ok = parseTime(text)
	case value.BaseBytes:
		v = value.Bytes([]byte(text))
	case value.BaseJSON:
		v = parseJSON(text)
	}
	if !ok {
		return v, fault.New(fault.Type, "%s: want %s, got %.80q", what, t, text)
	}
	return v, nil
}

// filterable returns why values of type t are not compared with a text.
func filterable(what string, t value.Type) error {
	switch {
	case t.IsList():
		return fault.New(fault.Query, "%s: there is no filter by a list within a list", what)
	case t.Is(value.BaseGeo):
		return fault.New(fault.Query, "%s: a point is filtered by where=distance(%s, …) < …", what, what)
	case t.Is(value.BaseVector), t.Is(value.BaseSparse):
		return fault.New(fault.Query, "%s: there is no filter by a %s; rows are found by it with near", what, t)
	}
	return nil
}

func parseInt(text string) (value.Value, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return value.Int(n), err == nil
}

// parseFloat reads a decimal, and none of the other forms that Go has.
func parseFloat(text string) (value.Value, bool) {
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return value.Null, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return value.Float(f), err == nil
}

func parseBool(text string) (value.Value, bool) {
	switch strings.ToLower(text) {
	case "true", "t", "1":
		return value.Bool(true), true
	case "false", "f", "0":
		return value.Bool(false), true
	}
	return value.Null, false
}

// parseTime reads milliseconds since 1970 or a date.
func parseTime(text string) (value.Value, bool) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value.Timestamp(ms), true
	}
	v, err := value.ParseTimestamp(text)
	return v, err == nil
}

// parseJSON reads a number, a constant or a quoted text as JSON does, and takes
// anything else for a text.
func parseJSON(text string) value.Value {
	v, err := value.ParseJSONString(text)
	if err != nil || v.Kind() == value.KindList || v.Kind() == value.KindObject {
		return value.Text(text)
	}
	return v
}
