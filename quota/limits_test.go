package quota_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

const allLimits = `{"bytes":1,"rows":2,"streams":3,"requests":4,"rows_per_second":5,"bytes_per_second":6,"requests_per_second":9223372036854775807}`

func TestParse(t *testing.T) {
	all := quota.Limits{
		Bytes: 1, Rows: 2, Streams: 3, Requests: 4,
		RowsPerSecond: 5, BytesPerSecond: 6, RequestsPerSecond: 1<<63 - 1,
	}
	for _, tc := range []struct {
		text string
		want quota.Limits
	}{
		{allLimits, all},
		{" {\n\"rows\" : 7 } \n", quota.Limits{Rows: 7}},
		{`{"rows": null, "bytes": 9}`, quota.Limits{Bytes: 9}},
		{`{}`, quota.Limits{}},
	} {
		got, err := quota.Parse([]byte(tc.text))
		require.NoError(t, err, tc.text)
		require.Equal(t, tc.want, got, tc.text)
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	require.Equal(t, allLimits, string(text))
	text, err = json.Marshal(quota.Limits{})
	require.NoError(t, err)
	require.Equal(t, "{}", string(text))
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{"rows": 1, "rowz": 1}`, `unknown key "rowz"`},
		{`{"Rows": 1}`, `unknown key "Rows"`},
		{`{"rows": 0}`, `"rows": want a whole number above 0, not 0`},
		{`{"bytes": -1}`, `"bytes": want a whole number above 0, not -1`},
		{`{"streams": 1.5}`, `"streams": want a whole number above 0, not 1.5`},
		{`{"streams": 1e3}`, `"streams": want a whole number above 0, not 1e3`},
		{`{"bytes": 9223372036854775808}`, `"bytes": want a whole number above 0, not 9223372036854775808`},
		{`{"requests": "7"}`, `"requests": want a whole number above 0`},
		{`{"requests": true}`, `"requests": want a whole number above 0`},
		{`{"requests": [1]}`, `"requests": want a whole number above 0`},
		{`{"rows": 1, "rows": 2}`, `"rows" is given twice`},
		{`{"rows": }`, `"rows": not JSON`},
		{`{"rows": 1`, "not JSON"},
		{`{"rows"`, "not JSON"},
		{`{1: 1}`, "not JSON"},
		{``, "not JSON"},
		{`null`, "want an object"},
		{`[]`, "want an object"},
		{`{} {}`, "something follows"},
		{`{}}`, "something follows"},
		{`{}` + strings.Repeat(" ", quota.MaxJSON), "4098 bytes are too many"},
	} {
		_, err := quota.Parse([]byte(tc.text))
		require.ErrorContains(t, err, tc.want, tc.text)
	}
	var l quota.Limits
	require.ErrorContains(t, json.Unmarshal([]byte(`{"rows": 0}`), &l), `"rows"`)
	require.NoError(t, json.Unmarshal([]byte(`{"rows": 3}`), &l))
	require.Equal(t, quota.Limits{Rows: 3}, l)
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{allLimits, `{}`, `{"rows": null}`, `{"rows": 1e3}`, `{"a`, `{}{}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := quota.Parse(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(l)
		require.NoError(t, err)
		back, err := quota.Parse(again)
		require.NoError(t, err)
		require.Equal(t, l, back)
	})
}

func TestRefusal(t *testing.T) {
	ceiling := &quota.Refusal{Key: quota.KeyRows, Limit: 1000}
	require.EqualError(t, ceiling, "over limit: rows is 1000")
	require.True(t, ceiling.Ceiling())
	require.ErrorIs(t, fmt.Errorf("wrapped: %w", ceiling), fenec.ErrOverLimit)

	rate := &quota.Refusal{Key: quota.KeyRowsPerSecond, Limit: 10, Wait: 2}
	require.EqualError(t, rate, "over limit: rows_per_second is 10, try again in 2 s")
	require.False(t, rate.Ceiling())
	require.False(t, errors.Is(rate, fenec.ErrOverLimit))
}
