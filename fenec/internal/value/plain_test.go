package value_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// escaped is AppendJSONString byte by byte.
func escaped(s string) string {
	out := `"`
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out += `\` + string(c)
		case c == '\n':
			out += `\n`
		case c == '\r':
			out += `\r`
		case c == '\t':
			out += `\t`
		case c < 0x20:
			out += fmt.Sprintf(`\u%04x`, c)
		default:
			out += s[i : i+1]
		}
	}
	return out + `"`
}

// Every byte, at every place of a word and beside those that a subtraction may
// borrow from.
func TestAppendJSONStringBytes(t *testing.T) {
	for c := range 256 {
		for at := range 18 {
			for _, fill := range []string{"a", "\x20", "\x7f", "\x80", "\xff", "\"", "!", "\x00"} {
				s := strings.Repeat(fill, at) + string([]byte{byte(c)}) + strings.Repeat(fill, 18-at)
				want := escaped(s)
				require.Equal(t, want, string(value.AppendJSONString(nil, s)))
				require.Equal(t, want, string(value.AppendJSONString([]byte(nil), []byte(s))))
			}
		}
	}
}

func TestParseJSONTextBytes(t *testing.T) {
	for c := range 128 {
		for at := range 18 {
			s := strings.Repeat("a", at) + string(rune(c)) + strings.Repeat("b", 18-at)
			text, err := json.Marshal(s)
			require.NoError(t, err)
			require.Equal(t, s, parse(t, string(text)).AsText())
			if c >= 0x20 {
				continue
			}
			_, err = value.ParseJSON([]byte(`"` + s + `"`))
			require.ErrorContains(t, err, fmt.Sprintf("control character in a text at byte %d", at+1))
			require.Equal(t, fault.Query, fault.KindOf(err))
		}
	}
}

// A text that is refused leaves nothing to the one after it.
func TestParseJSONAgain(t *testing.T) {
	for range 3 {
		for _, bad := range []string{`[1,2,[3,{"a":4,"b":[5`, `{"a":{"b":[1,2,3]},"c":`, `[[[[1,2],3],4],5`} {
			_, err := value.ParseJSON([]byte(bad))
			require.Error(t, err)
			require.Equal(t, `{"a":[1,{"b":2},[]],"c":{}}`, string(value.AppendJSON(nil, parse(t, `{"c":{},"a":[1,{"b":2},[]]}`))))
		}
	}
}
