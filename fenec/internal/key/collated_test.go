package key_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

var collations = []collation.Collation{collation.None, collation.Und, collation.TR}

// checkCollated checks the promises of the package for two values under a
// collation.
func checkCollated(t *testing.T, a, b value.Value, c collation.Collation) {
	t.Helper()
	if across(a, b) {
		return
	}
	ka, cutA := key.AppendCollated(nil, a, c)
	kb, cutB := key.AppendCollated(nil, b, c)
	order, keyOrder := value.CompareCollated(a, b, c), bytes.Compare(ka, kb)
	switch {
	case keyOrder == 0 && order != 0 && !(cutA && cutB):
		t.Fatalf("%s: %s and %s differ and have one key", c, a, b)
	case keyOrder != 0 && order == -keyOrder:
		t.Fatalf("%s: %s and %s: order %d, of keys %d", c, a, b, order, keyOrder)
	case order == 0 && keyOrder != 0 && a.Kind() == value.KindText && b.Kind() == value.KindText:
		t.Fatalf("%s: %s and %s are equal and their keys differ", c, a, b)
	case keyOrder != 0 && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)):
		t.Fatalf("%s: the key of %s or %s is the beginning of the other", c, a, b)
	}
	require.Equal(t, cutA, key.Cut(ka))
	entry := key.AppendID(bytes.Clone(ka), 7)
	n, err := key.Skip(entry)
	require.NoError(t, err)
	require.Len(t, ka, n)
	got, id, err := key.Split(entry)
	require.NoError(t, err)
	require.Equal(t, ka, got)
	require.Equal(t, uint64(7), id)
}

func TestCollatedOrder(t *testing.T) {
	r := valuetest.Rand(11)
	// Of the groups of one kind each: texts are compared with bytes by bytes.
	var values []value.Value
	for len(values) < 120 {
		if v := valuetest.Any(r, 2); v.Kind() != value.KindBytes {
			values = append(values, v)
		}
	}
	for _, word := range strings.Fields("i I ı İ iz ız a A á Á aa b B ß ss ç c cz 漢 я") {
		values = append(values, value.Text(word), value.List([]value.Value{value.Text(word), value.Null}))
	}
	for _, c := range collations {
		for _, a := range values {
			for _, b := range values {
				checkCollated(t, a, b, c)
			}
		}
	}
}

// Other kinds and texts without a collation have the key that Append writes.
func TestCollatedAsAppend(t *testing.T) {
	for _, v := range []value.Value{value.Null, value.Int(3), value.Bytes([]byte("b")), parse(t, `{"k":["a"]}`), parse(t, `[1]`)} {
		got, _ := key.AppendCollated(nil, v, collation.TR)
		require.Equal(t, key.Append(nil, v), got, v)
	}
	got, _ := key.AppendCollated(nil, value.Text("b"), collation.None)
	require.Equal(t, key.Append(nil, value.Text("b")), got)
	got, _ = key.AppendCollated([]byte("x"), value.Text("b"), collation.Und)
	require.Equal(t, append([]byte("x\x28"), collation.Und.AppendKey(nil, "b")...), got)

	// An object in a list does not end the collation.
	elems := []value.Value{parse(t, `{"k":"b"}`), value.Text("b")}
	got, _ = key.AppendCollated(nil, value.List(elems), collation.Und)
	want := append(append([]byte{0x38}, key.Append(nil, elems[0])...), 0x28)
	require.Equal(t, append(collation.Und.AppendKey(want, "b"), 0), got)
}

func TestCollatedCut(t *testing.T) {
	r := valuetest.Rand(12)
	long := func(end string) value.Value { return value.Text(strings.Repeat("x", key.MaxLen/2-3) + end) }
	_, cut := key.AppendCollated(nil, value.Text(strings.Repeat("x", 5000)), collation.Und)
	require.False(t, cut)
	a, cut := key.AppendCollated([]byte("before"), long("xa"), collation.Und)
	require.True(t, cut)
	require.Len(t, a, len("before")+key.MaxLen+1)
	values := []value.Value{long(""), long("x"), long("X"), long("xx"), long("xxx"), value.Text("y")}
	for range 20 {
		values = append(values, long(valuetest.Text(r)))
	}
	for _, a := range values {
		for _, b := range values {
			checkCollated(t, a, b, collation.Und)
		}
	}
}

// TestCollatedRange looks up a range of an index as a filter w < "d" does.
func TestCollatedRange(t *testing.T) {
	words := strings.Fields("çam can iz ışık oda ördek şal su zeytin")
	var entries [][]byte
	for i, w := range words {
		k, _ := key.AppendCollated(nil, value.Text(w), collation.TR)
		entries = append(entries, key.AppendID(k, uint64(i)))
	}
	slices.SortFunc(entries, bytes.Compare)
	upper, _ := key.AppendCollated(nil, value.Text("d"), collation.TR)
	var got []string
	for _, e := range entries {
		if bytes.Compare(e, upper) < 0 {
			_, id, err := key.Split(e)
			require.NoError(t, err)
			got = append(got, words[id])
		}
	}
	require.Equal(t, []string{"can", "çam"}, got)

	equal, _ := key.AppendCollated(nil, value.Text("çam"), collation.TR)
	require.True(t, bytes.HasPrefix(entries[1], equal))
	require.Negative(t, bytes.Compare(entries[1], key.Next(equal)))
	require.Positive(t, bytes.Compare(entries[2], key.Next(equal)))
}
