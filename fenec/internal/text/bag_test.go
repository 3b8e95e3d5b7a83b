package text_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

// prose is what texts look like in several languages.
var prose = map[string]string{
	"English": "A fold takes what the newest changes hold and writes it into the pages below them. Readers that began " +
		"before it go on with the pages that they have, so nobody waits; the pages are given back when the last of these " +
		"readers has ended. Most folds are small, because they are made as soon as the front has grown to a few megabytes, " +
		"and a small fold touches few pages. What it costs is seen best in the tail: of a thousand writes, 990 take less " +
		"than a tenth of a millisecond, and the others wait for the disk. Nothing here is new; databases have been built " +
		"in this way for 40 years, and it is still a good way.",
	"Turkish": "Küçük bir ada düşünün: kıyısında üç ev, ortasında yaşlı bir zeytin ağacı. Işıklar akşamları erkenden söner, " +
		"çünkü İstanbul'dan gelen vapur buraya yalnızca pazartesi günleri uğrar. Çocuklar iskelede bekler, gemiciler " +
		"şarkı söyler; sonra yine sessizlik olur ve yıldızlar görünür.",
	"Russian": "Старый паровоз медленно шёл через лес, и дым его долго стоял над соснами. На станции ждали двое: женщина с " +
		"корзиной яблок и мальчик, который ещё никогда не видел моря. Поезд опоздал на сорок минут, но никто не жаловался.",
	"Hindi":   "पहाड़ों के बीच एक छोटा गाँव था जहाँ हर सुबह लोग नदी के किनारे मिलते थे और दिन भर के काम की बात करते थे।",
	"Chinese": "山谷里有一座小图书馆，每天早上管理员打开窗户，让阳光照在旧书上。孩子们放学以后来这里读书，老人们在这里下棋、喝茶，谈论天气和收成。",
	"Thai":    "หมู่บ้านเล็กริมแม่น้ำมีตลาดทุกเช้าวันเสาร์ ชาวบ้านนำผลไม้ ปลา และดอกไม้มาขาย",
}

func TestBagForgets(t *testing.T) {
	var b text.Bag
	require.Zero(t, b.Len())
	require.Zero(t, b.Length())
	b.Fill(text.Analyzer{}, "b a b")
	require.Equal(t, uint32(3), b.Length())
	b.Fill(text.Analyzer{}, "a")
	require.Equal(t, 1, b.Len())
	require.Equal(t, uint32(1), b.Length())
	b.Fill(text.Analyzer{}, "")
	require.Zero(t, b.Len())
	require.Zero(t, b.Length())
}

// A bag that is filled within a bound has at most that, and ends where it would
// have more.
func TestFillWithin(t *testing.T) {
	const each = 50
	for name, s := range prose {
		for _, a := range []text.Analyzer{{}, {Chars: true}, {Prefix: 6, PrefixMin: 2}} {
			var whole, b text.Bag
			whole.Fill(a, s)
			size := whole.Size(each)
			require.Greater(t, size, each*int64(whole.Len()), name)
			require.True(t, b.FillWithin(a, s, size, each), name)
			require.Equal(t, whole.Len(), b.Len(), name)
			require.Equal(t, whole.Length(), b.Length(), name)
			for _, most := range []int64{0, 1, size / 3, size - 1} {
				require.False(t, b.FillWithin(a, s, most, each), "%s: %d", name, most)
				require.LessOrEqual(t, b.Size(each), most, name)
			}
			b.Fill(a, s)
			require.Equal(t, size, b.Size(each), name)
		}
	}
}

func TestTermsBefore(t *testing.T) {
	var s strings.Builder
	for i := range 10_000 {
		fmt.Fprintln(&s, i)
	}
	ctx, cancel := context.WithCancel(context.Background())
	terms, err := text.Analyzer{}.TermsBefore(ctx, s.String())
	require.NoError(t, err)
	require.Len(t, terms, 10_000)
	cancel()
	_, err = text.Analyzer{}.TermsBefore(ctx, s.String())
	require.ErrorIs(t, err, context.Canceled)
}

func TestFillAllocatesNothing(t *testing.T) {
	for name, s := range prose {
		for _, a := range []text.Analyzer{{}, {Chars: true}, {Prefix: 6, PrefixMin: 2}} {
			var b text.Bag
			b.Fill(a, s)
			require.Zero(t, testing.AllocsPerRun(20, func() { b.Fill(a, s) }), name)
		}
	}
	var b text.Bag
	word := strings.Repeat("ä", 10_000)
	b.Fill(text.Analyzer{Prefix: 64}, word)
	require.Zero(t, testing.AllocsPerRun(5, func() { b.Fill(text.Analyzer{Prefix: 64}, word) }))
}

// These would not end if anything took the square of their length.
func TestHugeTexts(t *testing.T) {
	const n = 1 << 20
	tests := []struct {
		name   string
		text   string
		query  string
		length uint32
		marks  [][2]int
	}{
		{"word of ASCII", strings.Repeat("a", n), strings.Repeat("A", n), 1, [][2]int{{0, n}}},
		{"word of two bytes each", strings.Repeat("Ä", n), strings.Repeat("ä", n), 1, [][2]int{{0, n}}},
		{"word that ends otherwise", strings.Repeat("a", n) + "é", "b", 1, [][2]int{}},
		{"pairs", strings.Repeat("東", n), "東東", n - 1, [][2]int{{0, n}}},
		{"triples of signs", strings.Repeat("\u0e31", n), "\u0e31\u0e31\u0e31", n - 2, [][2]int{{0, n}}},
		{"marks", "a" + strings.Repeat("\u0301", n), "a", 1, [][2]int{{0, n + 1}}},
		{"dots above", strings.Repeat("\u0307", n) + "a" + strings.Repeat("\u0307", n), "a", 1, [][2]int{{n, 2*n + 1}}},
		{"separators", strings.Repeat("—", n), "a", 0, [][2]int{}},
		{"not UTF-8", strings.Repeat("\xe4", n), "a", 0, [][2]int{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b text.Bag
			b.Fill(text.Analyzer{}, test.text)
			require.Equal(t, test.length, b.Length())
			m := text.NewMarker(text.Analyzer{}, text.Analyzer{}.Terms(test.query))
			require.Equal(t, test.marks, m.Marks(test.text))
			_, marks := m.Snippet(test.text, n/2, "…")
			require.Equal(t, len(test.marks), len(marks))
		})
	}
}

// The texts are as long as documents are, and far longer.
func BenchmarkFill(b *testing.B) {
	for _, language := range []string{"English", "Turkish", "Russian", "Hindi", "Chinese", "Thai"} {
		for _, times := range []int{1, 100} {
			s := strings.Repeat(prose[language]+"\n", times)
			b.Run(fmt.Sprintf("language=%s/times=%d", language, times), func(b *testing.B) {
				benchmarkFill(b, text.Analyzer{}, s)
			})
		}
	}
	b.Run("word=1MB", func(b *testing.B) { benchmarkFill(b, text.Analyzer{}, strings.Repeat("a", 1<<20)) })
	b.Run("distinct=50000", func(b *testing.B) {
		var s strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&s, "%x ", uint32(i)*0x9e3779b1)
		}
		benchmarkFill(b, text.Analyzer{}, s.String())
	})
	b.Run("prefix=6", func(b *testing.B) {
		benchmarkFill(b, text.Analyzer{Prefix: 6, PrefixMin: 3}, prose["English"])
	})
}

func benchmarkFill(b *testing.B, a text.Analyzer, s string) {
	var bag text.Bag
	bag.Fill(a, s)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		bag.Fill(a, s)
	}
}
