package exec_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// The twins hold the same documents. One has every index that is to be had and
// rows that expire by themselves; the other has none, and is told in every filter
// which rows are expired.
var (
	twinIndexed = []string{
		`create collection t (u text @unique, k text collate tr @sorted, e text collate und @hash, l [text] collate tr @hash,
			n int @sorted, q int @hash, j json, seen timestamp @ttl(1h), p geo @geo, plain int)`,
		`create index on t (j.kind) @hash`, `create index on t (j.pos.row) @sorted`, `create index on t (j.key) @unique`,
		`create collection o (ref int @hash, name text collate tr @sorted, at timestamp @ttl(10m))`,
	}
	twinPlain = []string{
		`create collection t (u text, k text collate tr, e text collate und, l [text] collate tr,
			n int, q int, j json, seen timestamp, p geo, plain int)`,
		`create collection o (ref int, name text collate tr, at timestamp)`,
	}
)

// What filters of the twins are written with: LIVE and EXPIRED of a collection.
var twinWords = []struct {
	word, indexed, field string
	minutes              int64
}{
	{"LIVE-T", "", "seen", 60}, {"EXPIRED-T", "expired()", "seen", 60},
	{"LIVE-O", "", "at", 10}, {"EXPIRED-O", "expired()", "at", 10},
}

// twins are the two databases.
type twins struct {
	generator
	indexed, plain *testDB
}

func openTwins(t *testing.T, seed uint64, path string) *twins {
	w := &twins{generator: generator{Rand: rand.New(rand.NewPCG(seed, 7))}}
	w.indexed, w.plain = openFile(t, path, twinIndexed...), openTest(t, twinPlain...)
	return w
}

// both returns a text as either twin is told it.
func (w *twins) both(text string) (indexed, plain string) {
	indexed, plain = text, text
	for _, x := range twinWords {
		cutoff := w.plain.now - x.minutes*60_000
		is := fmt.Sprintf("(%s <= timestamp(%d))", x.field, cutoff)
		if x.indexed == "" {
			indexed = strings.ReplaceAll(indexed, x.word+" and ", "")
			is = fmt.Sprintf("(%s is null or %s > timestamp(%d))", x.field, x.field, cutoff)
		}
		indexed = strings.ReplaceAll(indexed, x.word, x.indexed)
		plain = strings.ReplaceAll(plain, x.word, is)
	}
	return strings.ReplaceAll(indexed, " where (true)", ""), plain
}

// write has both carry a statement out, or fail alike.
func (w *twins) write(text string) {
	indexed, plain := w.both(text)
	want, wantErr := w.plain.run(plain)
	got, err := w.indexed.run(indexed)
	require.Equal(w.plain.t, fault.KindOf(wantErr), fault.KindOf(err), "%s\n%s: %v", plain, indexed, err)
	require.Equal(w.plain.t, want.affected, got.affected, indexed)
}

// same requires both to answer a get alike, and counts the rows.
func (w *twins) same(text string) int {
	t := w.plain.t
	indexed, plain := w.both(text)
	want, err := w.plain.run(plain)
	if err != nil {
		require.NotEqual(t, fault.Kind(0), fault.KindOf(err), plain)
		return 0 // an index may have ruled out the row that fails
	}
	got, err := w.indexed.run(indexed)
	require.NoError(t, err, "%s\n%s", indexed, plain)
	if got.json(t) != want.json(t) {
		require.Equal(t, want.ids(), got.ids(), "%s\n%s\n%s", indexed, plain, explained(w.indexed, indexed, nil))
	}
	return want.res.Len()
}

// words sort differently by bytes, in Turkish and at the root.
func (w *twins) word() string {
	text := w.pick("çam", "can", "cam", "Çam", "ızgara", "Izgara", "iz", "İz", "ördek", "oda", "şal", "su", "üa", "uz", "uç", "a", "A", "á", "")
	switch w.IntN(40) {
	case 0, 1, 2, 3:
		text += w.pick(" b", "-b", "\x00", "0")
	case 4:
		text += strings.Repeat("ç", 6000+w.IntN(2)) + w.pick("a", "b") // its key is cut
	}
	return strconv.Quote(text)
}

func (w *twins) rarelyNull(text string) string {
	if w.IntN(100) == 0 {
		return "null"
	}
	return text
}

// number is one that json keeps as it is written.
func (w *twins) number() string {
	return w.pick(strconv.Itoa(w.IntN(30)-5), strconv.Itoa(w.IntN(30)), "2.5", "3.0", "-0.0", "7.25",
		"9007199254740993", "9007199254740992", "9007199254740992.0", "9007199254740994.0", "1e300")
}

// scalar is what may lie at a path.
func (w *twins) scalar() string {
	switch w.IntN(10) {
	case 0:
		return "null"
	case 1:
		return w.pick("true", "false")
	case 2:
		return w.pick(`"memo"`, `"list"`, `""`, `"1970-01-05"`)
	case 3:
		return w.pick("[]", "[1, 2]", `["x"]`, "[9007199254740993]", "{a: 1}", "{a: 1.0, b: null}")
	}
	return w.number()
}

func (w *twins) json(i int) string {
	switch w.IntN(12) {
	case 0:
		return w.scalar()
	case 1:
		return "null"
	case 2:
		return `{pos: "bare"}`
	}
	kind := w.pick(`"memo"`, `"memo"`, `"list"`, `"note"`, "null", "1")
	return fmt.Sprintf(`{kind: %s, pos: {row: %s, col: %d}, key: "key-%d"}`, kind, w.scalar(), w.IntN(3), i)
}

// point is one in one of three towns, one of which lies on both sides of the
// antimeridian, and one at a pole.
func (w *twins) point() string {
	near := func(x float64) string { return strconv.FormatFloat(x+float64(w.IntN(2001)-1000)/10_000, 'f', 4, 64) }
	switch w.IntN(6) {
	case 0:
		return "[" + w.pick("180", "-180", "179.95", "-179.95") + ", " + near(0) + "]"
	case 1:
		return "[" + near(12) + ", " + w.pick("90", "-90", "89.99") + "]"
	case 2, 3:
		return "[" + near(29) + ", " + near(41) + "]"
	}
	return "[" + near(-0.05) + ", " + near(51.5) + "]"
}

// area is a condition on where a point is.
func (w *twins) area() string {
	metres := w.pick("0", "-1", "500", "2500.5", "8000", "30000", "1e6", "2e7", "null", `"far"`)
	switch w.IntN(6) {
	case 0:
		return metres + w.pick(" > ", " >= ") + "distance(" + w.point() + ", p)"
	case 1:
		return "within(p, " + w.pick("[179.9, -1, -179.9, 1]", "[28.95, 40.95, 29.05, 41.02]", "[-180, -90, 180, 90]",
			"[-0.1, 51.45, 0.02, 51.5]", "[29, 41, 29, 41]", "[170, 80, -170, 90]", "null") + ")"
	case 2:
		return "p is " + w.pick("", "not ") + "null"
	case 3:
		return "distance(p, " + w.point() + w.pick(") > ", ") = ", ") != ") + metres
	}
	return "distance(p, " + w.point() + w.pick(") < ", ") <= ") + metres
}

// moment is one near the time at which rows expire.
func (w *twins) moment() string {
	return "timestamp(" + strconv.FormatInt(w.plain.now-int64(w.IntN(240)-60)*30_000+int64(w.IntN(3)-1), 10) + ")"
}

// fill puts n documents into each collection of both.
func (w *twins) fill(n int) {
	var docs, others []string
	for range n {
		w.made++
		docs = append(docs, fmt.Sprintf(`{u: "u%d", k: %s, e: %s, l: [%s, %s], n: %s, q: %d, j: %s, seen: %s, p: %s, plain: %d}`,
			w.made, w.rarelyNull(w.word()), w.rarelyNull(w.word()), w.word(), w.word(), w.maybeNull(strconv.Itoa(w.IntN(40)-10)),
			w.IntN(60), w.json(w.made), w.maybeNull(w.moment()), w.maybeNull(w.point()), w.IntN(10)))
		others = append(others, fmt.Sprintf(`{ref: %d, name: %s, at: %s}`, w.IntN(60), w.word(), w.maybeNull(w.moment())))
	}
	w.write("put t [" + strings.Join(docs, ", ") + "]")
	w.write("put o [" + strings.Join(others, ", ") + "]")
}

// twinAtom is a comparison, of which most reach an index.
func (w *twins) twinAtom() string {
	op := w.pick("=", "=", "<", "<=", ">", ">=", "!=")
	path := w.pick("j.pos.row", "j.pos.row", "j.kind", "j.key", "j.pos.col", "j.pos")
	switch w.IntN(16) {
	case 0:
		return fmt.Sprintf("k %s %s", op, w.word())
	case 1:
		return fmt.Sprintf("%s %s e", w.word(), op)
	case 2:
		return fmt.Sprintf("l %s [%s, %s]", op, w.word(), w.word())
	case 3, 4, 5:
		return fmt.Sprintf("%s %s %s", path, op, w.scalar())
	case 6:
		return path + w.pick(" is null", " is not null")
	case 7:
		return path + " in [" + w.scalar() + ", " + w.scalar() + `, "memo"]`
	case 8:
		return fmt.Sprintf("n %s %s", op, w.number())
	case 9:
		return "seen " + op + " " + w.moment()
	case 10:
		return w.pick("k", "e") + " in [" + w.word() + ", " + w.word() + ", " + w.word() + "]"
	case 11:
		return w.pick("id", "q", "n", "j.pos.row") + " in (get ref from o where " + w.otherFilter() + w.page("ref", "name", "at") + ")"
	case 12, 13:
		return w.area()
	case 14:
		return "k in (get name from o where " + w.otherFilter() + ")"
	}
	return w.pick("EXPIRED-T", "plain = 3", "q = 7", "id < 30", "id > "+strconv.Itoa(w.IntN(1000)), "id in [5, 9, 700, 3.0]", `l has "su"`, `k ~ "ç"`, "j.key = \"key-9\"")
}

func (w *twins) otherFilter() string {
	atom := w.pick("true", "ref < 20", "name > "+w.word(), "name = "+w.word(), "at >= "+w.moment(), "ref = 7 or ref = 9", "EXPIRED-O")
	if strings.Contains(atom, "EXPIRED") {
		return "(" + atom + ")"
	}
	return "LIVE-O and (" + atom + ")"
}

func (w *twins) twinFilter(depth int) string {
	if depth == 0 || w.IntN(3) == 0 {
		return w.twinAtom()
	}
	switch w.IntN(7) {
	case 0:
		return "not (" + w.twinFilter(depth-1) + ")"
	case 1, 2:
		return "(" + w.twinFilter(depth-1) + " or " + w.twinFilter(depth-1) + ")"
	}
	return "(" + w.twinFilter(depth-1) + " and " + w.twinFilter(depth-1) + ")"
}

// where returns a filter of t.
func (w *twins) where() string {
	f := "true"
	if w.IntN(4) > 0 {
		f = w.twinFilter(3)
	}
	if strings.Contains(f, "EXPIRED-T") {
		return " where (" + f + ")"
	}
	return " where LIVE-T and (" + f + ")"
}

// page returns order, limit and offset, each perhaps left out.
func (w *twins) page(keys ...string) string {
	out := ""
	if w.IntN(2) == 0 {
		key := w.pick(keys...)
		out += " order " + key + w.pick("", " desc") + w.pick("", "", ", id desc")
	}
	if w.IntN(2) == 0 {
		out += " limit " + strconv.Itoa(w.pickInt(0, 1, 3, 10, 20, 40, 60, 200, 3000))
	}
	return out
}

func (w *twins) get() string {
	text := w.where() + w.page("k", "k collate tr", "k collate und", "e", "e collate tr", "l", "l collate und", "u collate tr",
		"n", "q", "j.pos.row", "j.pos.row", "j.kind", "j.pos", "seen", "seen", "p", "plain")
	if w.IntN(4) == 0 {
		text += " offset " + strconv.Itoa(w.pickInt(0, 1, 5, 100, 5000))
	}
	return text
}

// TestTwins compares what is found through indexes, of paths, of texts with a
// collation and of rows that expire, with what is found without any, while the
// clock moves and rows change.
func TestTwins(t *testing.T) {
	statements := 250
	if testing.Short() {
		statements = 60
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			path := ""
			if seed == 3 {
				path = filepath.Join(t.TempDir(), "t.fenec")
			}
			w := openTwins(t, seed, path)
			w.fill([]int{100, 400, 900, 700}[seed])
			if path != "" {
				require.NoError(t, w.indexed.store.Checkpoint(t.Context()))
				w.fill(200)
			}
			found := 0
			for range statements {
				found += w.same("get t" + w.get())
				w.same("get t" + w.where() + " count")
				switch w.IntN(25) {
				case 0:
					w.write("del t" + w.where() + " limit 3")
				case 1:
					w.write("set t {n: n + 1, j.pos.row: " + w.number() + ", k: " + w.word() + "}" + strings.Replace(w.where(), "where", "where id > 20 and", 1) + " order k limit 20")
				case 2:
					w.write("set t {seen: " + w.moment() + "}" + w.where() + " order seen desc limit 10")
				case 3:
					w.fill(20)
				case 4, 5, 6:
					w.tick(int64(w.IntN(20)) * 30_000)
				}
			}
			require.Greater(t, found, statements, "most statements find rows")
		})
	}
}

// tick moves the clock of both.
func (w *twins) tick(ms int64) {
	w.plain.now += ms
	w.indexed.now += ms
}
