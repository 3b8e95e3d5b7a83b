package collation_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
)

var all = []collation.Collation{collation.None, collation.Und, collation.TR}

func TestOrder(t *testing.T) {
	tests := []struct {
		name string
		c    collation.Collation
		want string // words in order
	}{
		{"none", collation.None, "can iz oda su zeytin çam ördek ışık şal"},
		{"und", collation.Und, "çam can iz ışık oda ördek şal su zeytin"},
		{"tr", collation.TR, "can çam ışık iz oda ördek su şal zeytin"},
		{"und accents before case", collation.Und, "a A á b B"},
		{"und accents count over whole texts", collation.Und, "cote coté côte côté coter"},
		{"und case counts over whole texts", collation.Und, "ab aB Ab AB abc"},
		{"und dotless after i", collation.Und, "h i I í İ ij iz ı ız j"},
		{"und turkish letters are accents", collation.Und, "c ç cd g ğ gh o ö oz s ş sz u ü uz"},
		{"tr letters", collation.TR, "c C cz ç Ç d g gz ğ Ğ h hz ı I ız i İ iz j o oz ö Ö p s sz ş Ş t u uz ü Ü v"},
		{"punctuation before digits before letters", collation.Und, "_ - , ! . @ / $ 0 1 9 a z"},
		{"punctuation counts", collation.Und, "a-b a-z a.b a0 ab"},
		{"other scripts", collation.Und, "z α я א ア 漢 🦀"},
	}
	require.Negative(t, collation.Und.Compare("a b", "a-b"), "a blank counts, and is before punctuation")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := strings.Fields(test.want)
			got := slices.Clone(want)
			slices.Reverse(got)
			slices.SortFunc(got, test.c.Compare)
			require.Equal(t, want, got)
		})
	}
}

// Texts of one weight are told apart by their bytes.
func TestTotal(t *testing.T) {
	for _, c := range all {
		for _, pair := range [][2]string{
			{"", "\x00"}, {"a", "a\x00"}, {"a\x00", "a\x00\x00"}, {"a\x01", "a\x02"}, {"a\u0301", "á"}, {"K", "\u212a"},
			{"a", "a\u200b"}, {"\u0308\u0301", "\u0344"},
		} {
			require.Equal(t, -1, c.Compare(pair[0], pair[1]), "%s %q", c, pair)
			require.Equal(t, 1, c.Compare(pair[1], pair[0]), "%s %q", c, pair)
			require.Zero(t, c.Compare(pair[0], strings.Clone(pair[0])))
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range all {
		got, ok := collation.Parse(c.String())
		require.True(t, ok)
		require.Equal(t, c, got)
		require.True(t, c.Valid())
	}
	_, ok := collation.Parse("de")
	require.False(t, ok)
	require.False(t, collation.Collation(3).Valid())
	require.Equal(t, "unknown", collation.Collation(3).String())
}

// TestKeysAreKept pins the bytes that files hold, one text for each part of the
// tables that another version of the library is likely to change.
func TestKeysAreKept(t *testing.T) {
	tests := []struct {
		c    collation.Collation
		s    string
		want string
	}{
		{collation.None, "a\x00b", "a\x00\xffb\x00\x01"},
		{collation.Und, "", "\x01\x01\x01\x00\x01"},
		{collation.Und, "ab", "\x17\xef\x18\x05\x01\x01\x01ab\x00\x01"},
		{collation.Und, "Áb", "\x17\xef\x18\x05\x01\x20\x32\x01\x08\x01Áb\x00\x01"},
		{collation.Und, "a\u0301\u0316", "\x17\xef\x01\x20\x60\x32\x01\x01a\u0301\u0316\x00\x01"},
		{collation.Und, "ß", "\x19\xf3\x19\xf3\x01\x20\x81\xb9\x01\x04\x04\x04\x01ß\x00\x01"},
		{collation.Und, "漢", "\x81\x71\x22\x01\x01\x01漢\x00\x01"},
		{collation.Und, "🦀", "\x86\xfb\x80\x01\x01\x01🦀\x00\x01"},
		{collation.TR, "Iİ", "\x18\xcc\x18\xcd\x01\x01\x03\x03\x01Iİ\x00\x01"},
		{collation.TR, "çğöşü", "\x18\x1e\x18\x92\x19\x72\x19\xf4\x1a\x37\x01\x01\x01çğöşü\x00\x01"},
	}
	for _, test := range tests {
		require.Equal(t, test.want, string(test.c.AppendKey(nil, test.s)), "%s %q", test.c, test.s)
		require.Equal(t, "x"+test.want, string(test.c.AppendKey([]byte("x"), test.s)))
	}
}

// checkPair checks what AppendKey promises of two texts.
func checkPair(t *testing.T, c collation.Collation, a, b string) {
	t.Helper()
	ka, kb := c.AppendKey(nil, a), c.AppendKey(nil, b)
	order := bytes.Compare(ka, kb)
	require.Equal(t, order, c.Compare(a, b), "%s %q %q", c, a, b)
	require.Equal(t, a == b, order == 0, "%s %q %q", c, a, b)
	if order != 0 {
		require.False(t, bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka), "%s %q %q", c, a, b)
	}
	zero := bytes.IndexByte(ka, 0)
	for zero+2 < len(ka) {
		require.Equal(t, byte(0xff), ka[zero+1], "%s %q", c, a)
		zero += 2 + bytes.IndexByte(ka[zero+2:], 0)
	}
	require.Equal(t, []byte{0, 1}, ka[zero:], "%s %q", c, a)
}

func FuzzKeys(f *testing.F) {
	f.Add("ışık", "iz")
	f.Add("a\x00", "a")
	f.Add("l·", "漢\u0301")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		for _, c := range all {
			checkPair(t, c, a, b)
			checkPair(t, c, a, a+b)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	words := strings.Fields("çam can iz ışık oda ördek şal su zeytin 漢字 かな я")
	want := slices.Clone(words)
	slices.SortFunc(want, collation.TR.Compare)
	results := make([][]string, 4)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			for range 50 {
				results[i] = slices.Clone(words)
				slices.SortFunc(results[i], collation.TR.Compare)
			}
		})
	}
	wg.Wait()
	for _, got := range results {
		require.Equal(t, want, got)
	}
}

func TestComparingAllocatesNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() { collation.Und.Compare("a usual name", "a usual nome") }))
}

func BenchmarkAppendKey(b *testing.B) {
	for name, s := range map[string]string{
		"ascii": "a key of a usual length", "latin": "çok güzel bir ışık, değil", "greek": "ένα κλειδί συνηθισμένο",
	} {
		b.Run("text="+name, func(b *testing.B) {
			dst := make([]byte, 0, 256)
			b.ReportAllocs()
			for b.Loop() {
				dst = collation.TR.AppendKey(dst[:0], s)
			}
		})
	}
}
