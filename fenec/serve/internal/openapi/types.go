package openapi

import (
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// output returns the schema of a field's values as answers have them. Every field
// can be null.
func output(t value.Type) *schema {
	s := typed(t)
	if name, ok := s.Type.(string); ok {
		s.Type = []string{name, "null"}
	}
	return s
}

// input returns the schema of a field's values as documents may have them.
func input(t value.Type) *schema {
	s := output(t)
	switch {
	case t.Is(value.BaseTimestamp):
		s.Type, s.Format = []string{"string", "integer", "null"}, ""
		s.Description = "a date, a date and a time, or milliseconds since 1970"
	case t.Is(value.BaseBytes):
		s.Type = []string{"array", "string", "null"}
		s.Description = "a list of bytes, or a text for its bytes in UTF-8"
	}
	return s
}

func typed(t value.Type) *schema {
	if t.IsList() {
		return list(typed(t.Elem()))
	}
	switch t.Base() {
	case value.BaseBool:
		return &schema{Type: "boolean"}
	case value.BaseInt:
		return &schema{Type: "integer", Format: "int64"}
	case value.BaseFloat:
		return &schema{Type: "number", Format: "double"}
	case value.BaseText:
		return text()
	case value.BaseBytes:
		return octets()
	case value.BaseTimestamp:
		return &schema{Type: "string", Format: "date-time"}
	case value.BaseVector:
		return numbers("float", t.Dim())
	case value.BaseGeo:
		return described(numbers("double", 2), "longitude and latitude")
	case value.BaseSparse:
		return described(text(), `a sparse vector, such as "{1:0.5,7:2}/8"`)
	}
	return described(&schema{}, "any JSON")
}

func octets() *schema {
	from, to := int64(0), int64(255)
	return list(&schema{Type: "integer", Minimum: &from, Maximum: &to})
}

func numbers(format string, n int) *schema {
	s := list(&schema{Type: "number", Format: format})
	s.MinItems, s.MaxItems = n, n
	return s
}
