package value_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func TestLower(t *testing.T) {
	tests := map[string]string{
		"":           "",
		"ABCxyz[]@`": "abcxyz[]@`",
		"ÇEKİÇ":      "çeki\u0307ç",
		"IĞDIR":      "iğdir",
		"ẞ":          "ß",
		"\u212a":     "k", // the Kelvin sign
		"ΟΔΟΣ":       "οδος",
		"ΟΔΟΣ ΣΑΣ":   "οδος σας",
		"Σ":          "σ",
		"ΑΣΑ":        "ασα",
		"ΑΣ.Α":       "ασ.α",
		"ΑΣ.":        "ας.",
		"Α'Σ'":       "α'ς'",
		".Σ":         ".σ",
		"Α\u0301Σ":   "α\u0301ς",
		"Α1Σ":        "α1σ",
		"ΑΣ1":        "ας1",
		"ǅ":          "ǆ",
		"文🦀":         "文🦀",
		"\u1f88":     "\u1f80",
	}
	for s, want := range tests {
		require.Equal(t, want, value.LowerString(s), s)
		requireSame(t, value.Text(want), value.Lower(value.Text(s)))
	}
}

func TestUpper(t *testing.T) {
	tests := map[string]string{
		"":             "",
		"abcXYZ{}@":    "ABCXYZ{}@",
		"Çekiç":        "ÇEKIÇ",
		"straße":       "STRASSE",
		"ﬁﬂ":           "FIFL",
		"ŉ":            "ʼN",
		"ı":            "I",
		"οδος":         "ΟΔΟΣ",
		"\u0390":       "\u0399\u0308\u0301",
		"\u1fb7":       "\u0391\u0342\u0399",
		"ǆ":            "Ǆ",
		"ÿ":            "Ÿ",
		"\u0131\u017f": "IS",
	}
	for s, want := range tests {
		require.Equal(t, want, value.UpperString(s), s)
		requireSame(t, value.Text(want), value.Upper(value.Text(s)))
	}
}

func TestCaseOfOtherValues(t *testing.T) {
	for _, v := range []value.Value{value.Null, value.Int(50), value.Bytes([]byte("A")), value.List([]value.Value{value.Text("A")})} {
		requireSame(t, v, value.Lower(v))
		requireSame(t, v, value.Upper(v))
	}
}

// TestSimpleCases checks that characters without a mapping of their own follow
// package unicode.
func TestSimpleCases(t *testing.T) {
	full := 0
	for r := range rune(unicode.MaxRune) + 1 {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		if upper := value.UpperString(string(r)); len([]rune(upper)) > 1 {
			full++
		} else if upper != string(unicode.ToUpper(r)) {
			t.Fatalf("upper of %U is %q", r, upper)
		}
		if lower := value.LowerString(string(r)); r != 'İ' && lower != string(unicode.ToLower(r)) {
			t.Fatalf("lower of %U is %q", r, lower)
		}
	}
	require.Equal(t, 102, full)
}

func TestContains(t *testing.T) {
	text := value.Text
	tests := []struct {
		t, s value.Value
		want bool
	}{
		{text("Anvil"), text("IL"), true},
		{text("Anvil"), text("anvil"), true},
		{text("Anvil"), text("anvils"), false},
		{text("Anvil"), text(""), true},
		{text(""), text(""), true},
		{text(""), text("a"), false},
		{text("Çekiç"), text("ÇEK"), true},
		{text("Çekiç"), text("cek"), false},
		{text("aaab"), text("AAB"), true},
		{text("İ"), text("i"), true},
		{text("i"), text("İ"), false},
		{text("k"), text("\u212a"), true},
		{text("\u212a"), text("k"), true},
		{text("é and ascii"), text("ASCII"), true},
		{text("ΟΔΟΣ"), text("δος"), true},
		{text(strings.Repeat("é", 400) + "X"), text("éx"), true},
		{value.Int(3), text("3"), false},
		{text("3"), value.Int(3), false},
		{value.Null, text(""), false},
		{text(""), value.Null, false},
		{value.Bytes([]byte("ab")), text("a"), false},
	}
	for _, test := range tests {
		require.Equal(t, test.want, value.Contains(test.t, test.s), "%s ~ %s", test.t, test.s)
	}
}

func BenchmarkContainsLower(b *testing.B) {
	for name, s := range map[string]string{
		"ascii": strings.Repeat("the quick brown fox ", 10) + "Jumps", "other": strings.Repeat("çabuk kahverengi ", 10) + "Tilki",
	} {
		b.Run("text="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value.ContainsLower(s, "lazy dog")
			}
		})
	}
}
