package key_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

func TestSplit(t *testing.T) {
	r := valuetest.Rand(7)
	for range 5000 {
		want := key.Append(nil, valuetest.Any(r, 3))
		id := r.Uint64()
		got, gotID, err := key.Split(key.AppendID(bytes.Clone(want), id))
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, id, gotID)
	}
}

func TestSplitErrors(t *testing.T) {
	for _, n := range []int{0, 1, 8, key.MaxLen + 10} {
		_, _, err := key.Split(make([]byte, n))
		require.ErrorIs(t, err, key.ErrCorrupt, n)
	}
	for _, n := range []int{9, key.MaxLen + 9} {
		_, _, err := key.Split(make([]byte, n))
		require.NoError(t, err, n)
	}
}

func TestSkip(t *testing.T) {
	r := valuetest.Rand(8)
	for range 5000 {
		want := key.Append(nil, valuetest.Any(r, 3))
		rest := make([]byte, r.IntN(10))
		for i := range rest {
			rest[i] = byte(r.Uint32())
		}
		n, err := key.Skip(append(bytes.Clone(want), rest...))
		require.NoError(t, err)
		require.Len(t, want, n)
		for short := range want {
			_, err := key.Skip(want[:short])
			require.ErrorIs(t, err, key.ErrCorrupt)
		}
	}
}

func TestSkipDamaged(t *testing.T) {
	for name, b := range map[string]string{
		"an unknown tag":            "\x77",
		"a bad escape":              "\x28a\x00\x02\x00\x01",
		"a member without its mark": "\x48\x02a\x00\x01\x10\x00",
		"a member without a value":  "\x48\x01a\x00\x01\x00",
		"a sparse without an end":   "\x40\x00\x00\x00\x01\xbf\x80\x00\x00\x00\x00\x00\x00\x00\x00",
		"too deep":                  strings.Repeat("\x38", 200) + strings.Repeat("\x00", 200),
		"long without the mark":     "\x28" + strings.Repeat("x", key.MaxLen+5),
	} {
		_, err := key.Skip([]byte(b))
		require.ErrorIs(t, err, key.ErrCorrupt, name)
	}
}

func TestInt(t *testing.T) {
	r := valuetest.Rand(9)
	ints := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 511, 1 << 53, -1 << 53}
	for range 20000 {
		ints = append(ints, valuetest.Int(r))
	}
	for _, want := range ints {
		for _, v := range []value.Value{value.Int(want), value.Timestamp(want)} {
			got, ok := key.Int(key.Append(nil, v))
			require.True(t, ok, want)
			require.Equal(t, want, got)
		}
	}
	got, ok := key.Int(key.Append(nil, value.Float(-3)))
	require.True(t, ok)
	require.Equal(t, int64(-3), got)
	for _, v := range []value.Value{value.Float(1.5), value.Float(1 << 63), value.Float(1e300), value.Float(math.Inf(-1)),
		value.Float(math.NaN()), value.Text("12345678901"), value.Null} {
		_, ok := key.Int(key.Append(nil, v))
		require.False(t, ok, v)
	}
	_, ok = key.Int(append(key.Append(nil, value.Int(1)), 0))
	require.False(t, ok)
	_, ok = key.Int(nil)
	require.False(t, ok)
}

// FuzzSplit checks that damaged entries never panic, and that a key that can be
// skipped is split where it ends.
func FuzzSplit(f *testing.F) {
	r := valuetest.Rand(10)
	for range 20 {
		f.Add(key.AppendID(key.Append(nil, valuetest.Any(r, 3)), r.Uint64()))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		key.Int(b)
		n, skipErr := key.Skip(b)
		k, id, err := key.Split(b)
		if err != nil {
			require.ErrorIs(t, err, key.ErrCorrupt)
			return
		}
		require.Equal(t, b, key.AppendID(bytes.Clone(k), id))
		if skipErr == nil {
			require.LessOrEqual(t, n, len(b))
			again, err := key.Skip(b[:n])
			require.NoError(t, err)
			require.Equal(t, n, again)
		}
	})
}
