package fenec_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// TestFunctions calls functions of an embedder wherever expressions stand.
func TestFunctions(t *testing.T) {
	ctx := context.Background()
	cause := errors.New("no luck")
	db, err := fenec.OpenMemory(fenec.Options{Functions: map[string]fenec.Function{
		"reverse": {Least: 1, Most: 1, Of: func(args []any) (any, error) {
			s, ok := args[0].(string)
			if !ok {
				return nil, nil
			}
			b := []byte(s)
			for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
				b[i], b[j] = b[j], b[i]
			}
			return string(b), nil
		}},
		"Joined":  {Least: 1, Most: -1, Of: func(args []any) (any, error) { return len(args), nil }},
		"fails":   {Of: func([]any) (any, error) { return nil, cause }},
		"picky":   {Most: 1, Of: func([]any) (any, error) { return nil, fenec.ErrType }},
		"panics":  {Of: func([]any) (any, error) { panic("out of cheese") }},
		"strange": {Of: func([]any) (any, error) { return make(chan int), nil }},
	}})
	require.NoError(t, err)
	defer db.Close()
	for _, text := range []string{`create collection c (s text, n int)`, `put c [{s: reverse("abc")}, {s: "x", n: joined(1, 2)}, {}]`} {
		_, err := db.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	for text, want := range map[string]string{
		`get s, n from c`:                        `[{"s":"cba","n":null},{"s":"x","n":2},{"s":null,"n":null}]`,
		`get REVERSE(s) as r from c`:             `[{"r":"abc"},{"r":"x"},{"r":null}]`,
		`get id from c where reverse(s) = "abc"`: `[{"id":1}]`,
		`set c {s: reverse(reverse(s))}`:         `{"affected":3}`,
		`get id from c where fails() = 1`:        `plugin error`,
		`get id from c where panics()`:           `plugin error`,
		`get strange() as x from c`:              `plugin error`,
		`get picky() as x from c`:                `type error`,
		`get reverse() as x from c`:              `query error`,
		`get reverse(1, 2) as x from c`:          `query error`,
		`get picky(1, 2) as x from c`:            `query error`,
		`get joined() as x from c`:               `query error`,
		`get unheard() as x from c`:              `query error`,
	} {
		require.Equal(t, want, told(t, db, text), text)
	}
	_, err = db.Query(ctx, `get fails() as x from c`)
	require.ErrorIs(t, err, cause)
	require.EqualError(t, err, "plugin error: fails: no luck")
	_, err = db.Query(ctx, `get panics() as x from c`)
	require.EqualError(t, err, "plugin error: panics: it panicked: out of cheese")
}

// TestFunctionsRefused are functions that cannot be.
func TestFunctionsRefused(t *testing.T) {
	of := func([]any) (any, error) { return nil, nil }
	for name, fn := range map[string]fenec.Function{
		"":        {Of: of},
		"a b":     {Of: of},
		"1x":      {Of: of},
		"a.b":     {Of: of},
		"x(1)+y":  {Of: of},
		"lower":   {Of: of},
		"NOW":     {Of: of},
		"bucket":  {Of: of},
		"Count":   {Of: of},
		"expired": {Of: of},
		"none":    {},
		"few":     {Least: 2, Most: 1, Of: of},
		"under":   {Least: -1, Of: of},
		"below":   {Most: -2, Of: of},
	} {
		_, err := fenec.OpenMemory(fenec.Options{Functions: map[string]fenec.Function{name: fn}})
		require.ErrorContains(t, err, "options: function", name)
	}
	_, err := fenec.OpenMemory(fenec.Options{Functions: map[string]fenec.Function{"twice": {Of: of}, strings.ToUpper("twice"): {Of: of}}})
	require.ErrorContains(t, err, "two functions")
}
