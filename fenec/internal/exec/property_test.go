package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// indexed has an index on almost everything.
const indexed = `create collection t (u text @unique, h text @hash, n int @sorted, f float @sorted,
	at timestamp @sorted, long text @sorted, ok bool @hash, v vector<2> @hash, l [int] @hash, j json @hash,
	w [text] @unique, b bytes @hash, plain int)`

// generator makes documents and statements at random.
type generator struct {
	*rand.Rand
	args []any
	made int // documents
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) maybeNull(text string) string {
	if g.IntN(6) == 0 {
		return "null"
	}
	return text
}

var tail = strings.Repeat("long ", 4000)

// longText is a text whose key is cut, or sometimes not.
func (g *generator) longText() string {
	switch g.IntN(16) {
	case 0, 1, 2, 3:
		return g.pick("a", "b", "m", "")
	case 4:
		return "m" + tail + g.pick("a", "b", "c", "d", "e", "f", "g")
	}
	return g.pick("a", "m", "z") + strconv.Itoa(g.IntN(30))
}

// document returns a document as the text of a put.
func (g *generator) document(i int) string {
	pairs := map[string]string{
		"u":     fmt.Sprintf("%q", "u"+strconv.Itoa(i)),
		"h":     fmt.Sprintf("%q", "h"+strconv.Itoa(g.IntN(5))),
		"n":     strconv.Itoa(g.IntN(40) - 10),
		"f":     g.pick("0", "-0.0", "1.5", "2", "-3.25", "1e18", "0.1") + "",
		"at":    strconv.Itoa(g.IntN(20) * 86400000),
		"long":  fmt.Sprintf("%q", g.longText()),
		"ok":    g.pick("true", "false"),
		"v":     g.pick("[1, 2]", "[0, 0]", "[0.1, -1]"),
		"l":     g.pick("[]", "[1]", "[1, 2]", "[2]", "[9007199254740993]"),
		"j":     g.pick("1", "1.5", `"x"`, "[1, 2]", "{a: 1}", "{a: 2, b: [1]}", "9007199254740993", "9007199254740991.0", "true"),
		"w":     fmt.Sprintf(`["w", "%d"]`, i),
		"b":     g.pick(`"x"`, `"y"`, `""`),
		"plain": strconv.Itoa(g.IntN(10)),
	}
	if g.IntN(12) == 0 {
		pairs["n"] = g.pick("9007199254740993", "9007199254740992", "9007199254740991", "-9007199254740993")
	}
	var out []string
	for _, name := range []string{"u", "h", "n", "f", "at", "long", "ok", "v", "l", "j", "w", "b", "plain"} {
		out = append(out, name+": "+g.maybeNull(pairs[name]))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// constant returns a constant, often one that a field may hold.
func (g *generator) constant(field string) string {
	if g.IntN(8) == 0 {
		field = g.pick("u", "n", "f", "at", "ok", "v", "l", "j", "null")
	}
	text := "null"
	switch field {
	case "u":
		text = fmt.Sprintf("%q", "u"+strconv.Itoa(g.IntN(1500)))
	case "h":
		text = fmt.Sprintf("%q", "h"+strconv.Itoa(g.IntN(6)))
	case "n", "plain", "id":
		text = g.pick(strconv.Itoa(g.IntN(50)-10), strconv.Itoa(g.IntN(1500)), "7.5", "3.0", "-0.0", "9007199254740992.0",
			"9007199254740993", "1e300", "-1e300", "now()")
	case "f":
		text = g.pick("0", "1.5", "2", "1000000000000000000", "1e18", "-4", "0.1")
	case "at":
		text = g.pick(strconv.Itoa(g.IntN(20)*86400000), `"1970-01-05"`, `"1970-01-09T12:00:00+03:00"`, `"no time"`,
			"now()", "now() - 1780272000000", "5.5", "timestamp(86400000)")
	case "long":
		text = fmt.Sprintf("%q", g.longText())
	case "ok":
		text = g.pick("true", "false")
	case "v":
		text = g.pick("[1, 2]", "[0.1, -1]", "[1]", "[1, 2, 3]", "[]", `["x"]`)
	case "l":
		text = g.pick("[]", "[1]", "[1, 2]", "[1.0, 2]", "[9007199254740992.0]", `["x"]`)
	case "j":
		text = g.pick("1", "1.5", `"x"`, "[1, 2]", "{a: 1}", "{a: 1.0}", "9007199254740992.0", "9007199254740993", "true", "timestamp(0)")
	case "w":
		text = g.pick(fmt.Sprintf(`["w", "%d"]`, g.IntN(1500)), `["w"]`)
	case "b":
		text = g.pick(`"x"`, `"y"`)
	}
	if g.IntN(5) == 0 {
		return g.param(text)
	}
	return text
}

// param gives a constant as a parameter instead, where Go has one for it.
func (g *generator) param(text string) string {
	e, err := ql.ParseExpr(text)
	if err != nil {
		return text
	}
	if _, ok := e.(*ql.Call); ok || strings.HasPrefix(text, "now") {
		return text
	}
	c := expr.NewCompiler(&catalog.Collection{})
	x, err := c.Compile(e, expr.None)
	if err != nil {
		return text
	}
	var f expr.Frame
	f.Reset(c, nil, t0)
	v, err := x.Eval(&f)
	if err != nil {
		return text
	}
	g.args = append(g.args, v)
	return "$" + strconv.Itoa(len(g.args))
}

func (g *generator) field() string {
	return g.pick("id", "u", "h", "n", "f", "at", "long", "ok", "v", "l", "j", "w", "b", "plain", "n", "id", "h", "long")
}

// atom returns a comparison.
func (g *generator) atom() string {
	f := g.field()
	switch g.IntN(10) {
	case 0:
		var items []string
		for range g.IntN(12) {
			items = append(items, g.constant(f))
		}
		return f + " in [" + strings.Join(items, ", ") + "]"
	case 1:
		return f + g.pick(" is null", " is not null")
	case 2:
		return g.constant(f) + " " + g.pick("=", "<", "<=", ">", ">=") + " " + f
	case 3:
		return g.pick("ok", "plain", "l has 1", `long ~ "M"`, "len(long) > 3", "f > n", "true", "j.a = 1", "j.b is null")
	}
	return f + " " + g.pick("=", "=", "=", "!=", "<", "<=", ">", ">=") + " " + g.constant(f)
}

// filter returns a condition of at most that depth.
func (g *generator) filter(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.atom()
	}
	switch g.IntN(6) {
	case 0:
		return "not (" + g.filter(depth-1) + ")"
	case 1, 2:
		return "(" + g.filter(depth-1) + " or " + g.filter(depth-1) + ")"
	}
	return "(" + g.filter(depth-1) + " and " + g.filter(depth-1) + ")"
}

// clauses returns where, order, limit and offset, each perhaps left out.
func (g *generator) clauses() (where, order, limit, offset string) {
	if g.IntN(8) > 0 {
		where = " where " + g.filter(3)
	}
	if g.IntN(2) == 0 {
		var keys []string
		for range 1 + g.IntN(2) {
			keys = append(keys, g.field()+g.pick("", " desc"))
		}
		if g.IntN(3) == 0 {
			keys = append(keys, "id"+g.pick("", " desc"))
		}
		order = " order " + strings.Join(keys, ", ")
	}
	if g.IntN(2) == 0 {
		limit = " limit " + strconv.Itoa(g.pickInt(0, 1, 3, 10, 40, 200, 3000))
	}
	if g.IntN(4) == 0 {
		offset = " offset " + strconv.Itoa(g.pickInt(0, 1, 5, 100, 5000))
	}
	return where, order, limit, offset
}

func (g *generator) pickInt(of ...int) int { return of[g.IntN(len(of))] }

// fill adds about n documents, some of them changed and deleted again.
func (g *generator) fill(db *testDB, n int) {
	for i := 0; i < n; i += 50 {
		var docs []string
		for range 50 {
			g.made++
			docs = append(docs, g.document(g.made))
		}
		db.must("put t [" + strings.Join(docs, ", ") + "]")
	}
	db.must("del t where plain = 9 and n > 15")
	db.must("set t {n: n - 3, plain: plain + 1} where plain = 3")
	db.must(`set t {h: "h9"} order n desc limit 7`)
}

// oracle is every row of a collection, decoded.
type oracle struct {
	col  *catalog.Collection
	ids  []uint64
	rows [][]byte
}

func newOracle(db *testDB) *oracle {
	o := &oracle{col: db.cat.Find("t")}
	sn, err := db.store.Snapshot()
	require.NoError(db.t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	scan := table.NewReader(v, o.col).Scan(0, 1<<62, false)
	for scan.Next() {
		o.ids = append(o.ids, scan.ID())
		o.rows = append(o.rows, slices.Clone(scan.Row()))
	}
	require.NoError(db.t, scan.Err())
	return o
}

// answer returns the ids that a get must answer, in order, by looking at every
// row.
func (o *oracle) answer(g *ql.Get, args []value.Value) ([]uint64, error) {
	type found struct {
		id   uint64
		keys []value.Value
	}
	var all []found
	where, err := o.filter(g.Where, args)
	if err != nil {
		return nil, err
	}
	for i, b := range o.rows {
		if ok, err := where(i); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		f := found{id: o.ids[i]}
		for k := range g.Order {
			f.keys = append(f.keys, o.field(&g.Order[k].Path, o.ids[i], b))
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b found) int {
		for k := range g.Order {
			sign := value.Compare(a.keys[k], b.keys[k])
			if g.Order[k].Desc {
				sign = -sign
			}
			if sign != 0 {
				return sign
			}
		}
		return 0
	})
	ids := []uint64{}
	for i, f := range all {
		if (g.Offset == nil || int64(i) >= *g.Offset) && (g.Limit == nil || int64(len(ids)) < *g.Limit) {
			ids = append(ids, f.id)
		}
	}
	return ids, nil
}

// filter returns what tells whether row i passes a filter.
func (o *oracle) filter(e ql.Expr, args []value.Value) (func(i int) (bool, error), error) {
	if e == nil {
		return func(int) (bool, error) { return true, nil }, nil
	}
	c := expr.NewCompiler(o.col)
	x, err := c.Compile(e, expr.Late)
	if err != nil {
		return nil, err
	}
	return func(i int) (bool, error) {
		var f expr.Frame
		f.Reset(c, args, t0)
		if err := f.Stand(o.ids[i], o.rows[i]); err != nil {
			return false, err
		}
		v, err := x.Eval(&f)
		return v.Truthy(), err
	}, nil
}

func (o *oracle) field(p *ql.Path, id uint64, b []byte) value.Value {
	if p.Field == catalog.ID {
		return value.Int(int64(id))
	}
	at, _ := o.col.Position(p.Field)
	v, err := row.Field(b, at, o.col.Fields[at].Type)
	if err != nil {
		panic(err)
	}
	return v
}

// TestPlannedAnswers compares what statements find, through whatever index,
// with what looking at every row finds.
func TestPlannedAnswers(t *testing.T) {
	statements := 700
	if testing.Short() {
		statements = 200
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
			db := openTest(t, indexed)
			if seed == 2 {
				// Half of the rows in the file, the rest in memory above it.
				db = openFile(t, filepath.Join(t.TempDir(), "t.fenec"), indexed)
				g.fill(db, 1200)
				require.NoError(t, db.store.Checkpoint(t.Context()))
			}
			g.fill(db, []int{150, 900, 1200}[seed])
			o := newOracle(db)
			for range statements / (1 + int(seed)*3) {
				g.args = nil
				where, order, limit, offset := g.clauses()
				text := "get t" + where + order + limit + offset
				args := params(t, g.args...)
				tree, err := ql.Parse(text)
				require.NoError(t, err, text)
				want, err := o.answer(tree.(*ql.Get), args)
				if err != nil {
					continue // an index may have ruled out the row that fails
				}
				got, err := db.run(text, g.args...)
				require.NoError(t, err, "%s %v", text, args)
				if !slices.Equal(want, got.ids()) {
					require.Equal(t, want, got.ids(), "%s %v\n%s", text, args, explained(db, text, g.args))
				}
				if limit == "" && offset == "" {
					count := db.must("get t"+where+" count", g.args...)
					require.Equal(t, fmt.Sprintf(`[{"count":%d}]`, len(want)), count.json(t), text)
				}
				if offset == "" {
					require.Equal(t, want, deleted(db, where+order+limit, g.args, g.IntN(8) == 0), text)
				}
			}
		})
	}
}

func explained(db *testDB, text string, args []any) string {
	if len(text) > 2000 {
		text = text[:2000]
	}
	out, err := db.run("explain "+text, args...)
	if err != nil {
		return err.Error()
	}
	return out.json(db.t)
}

var errUndo = errors.New("undone")

// deleted returns the ids of the rows that a del takes out, in the order it
// does. With really it takes them out, which is undone then.
func deleted(db *testDB, clauses string, args []any, really bool) []uint64 {
	tree, err := ql.Parse("del t" + clauses)
	require.NoError(db.t, err)
	c, err := exec.Compile(db.cat, tree, exec.Options{})
	require.NoError(db.t, err)
	picked := exec.PickedIDs(c)
	ids := []uint64{}
	err = db.change(func(tx *table.Tx) error {
		env := exec.Env{Params: params(db.t, args...), Now: t0, Source: inBlock{tx}}
		if ids, err = picked(context.Background(), env); err != nil {
			return err
		}
		if !really {
			return errUndo
		}
		out, err := c.(exec.Write).Run(context.Background(), env, tx)
		require.NoError(db.t, err, clauses)
		require.Len(db.t, ids, out.Affected)
		return errUndo
	})
	require.ErrorIs(db.t, err, errUndo)
	if ids == nil {
		ids = []uint64{}
	}
	return ids
}

// TestFailedStatementsChangeNothing is for kinds of errors that the planner
// meets at run time.
func TestFailedStatementsChangeNothing(t *testing.T) {
	db := openTest(t, indexed, `put t [{n: 1, plain: 0}, {n: 2, plain: 1}]`)
	db.fails(fault.Query, "set t {n: 10 / plain} order n desc")
	require.Equal(t, `[{"n":1},{"n":2}]`, db.must("get n from t").json(t))
}
