package fenec_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

var (
	modelSeed  = flag.Uint64("model.seed", 1, "the first seed of the model test")
	modelSeeds = flag.Uint64("model.seeds", 24, "how many seeds the model test runs")
	modelSteps = flag.Int("model.steps", 300, "steps of the model test a seed")
)

// TestModel runs random statements, batches, views, checkpoints and reopenings
// against a database and against plain maps, and compares all they answer.
func TestModel(t *testing.T) {
	var kept, ended int
	for seed := *modelSeed; seed < *modelSeed+*modelSeeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			m := startModel(t, seed)
			for range *modelSteps {
				m.step()
			}
			m.finish()
			kept, ended = kept+m.kept, ended+m.ended
		})
	}
	require.Positive(t, kept)
	t.Logf("%d views were compared at their end, %d were ended by the database", kept, ended)
}

// model is one run of the model test.
type model struct {
	t     *testing.T
	g     *generator
	db    *fenec.DB
	opts  fenec.Options
	path  string // "" in memory
	world *world
	views []*heldView

	// What the limit has been asked about the statement being run.
	blocks []fenec.Block
	refuse bool
	small  bool  // the front is small: held views may be ended
	live   int64 // bytes, from the blocks
	log    []string
	kept   int
	ended  int
}

var errRefused = fenec.Over("the model says no")

func startModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, g: &generator{Rand: rand.New(rand.NewPCG(seed, 0))}, world: newWorld()}
	m.world.now = 1767225600000
	m.g.large = seed%11 == 3
	m.opts = fenec.Options{
		Sync:  fenec.SyncOff,
		Clock: func() time.Time { return m.world.now.Time() },
	}
	if seed%3 != 0 { // in memory nothing waits for a disk, so more is folded
		m.path = filepath.Join(t.TempDir(), "model.fenec")
	}
	if m.small = seed%2 == 0; m.small {
		m.opts.FrontBytes = 16 << 10
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d, the last of it:\n%s", seed, strings.Join(m.log[max(0, len(m.log)-25):], "\n"))
		}
	})
	m.open()
	return m
}

func (m *model) open() {
	m.opts.NoCheckpoint = m.g.chance(50)
	var err error
	m.db, err = fenec.Open(m.path, m.opts)
	require.NoError(m.t, err)
	m.db.SetLimit(func(b fenec.Block) error {
		m.blocks = append(m.blocks, b)
		if m.refuse {
			return errRefused
		}
		return nil
	})
}

func (m *model) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if len(line) > 600 {
		line = line[:600] + "…"
	}
	m.log = append(m.log, line)
}

func (m *model) step() {
	m.world.now += moment(m.g.IntN(5000))
	switch n := m.g.IntN(100); {
	case n < 72:
		m.single()
	case n < 87:
		m.batch()
	case n < 91:
		m.holdView()
	case n < 94:
		m.endView()
	case n < 97:
		if m.path == "" || n == 94 {
			m.note("checkpoint")
			require.NoError(m.t, m.db.Checkpoint(m.t.Context()))
		}
	case n < 98:
		m.note("compact")
		_, err := m.db.Query(m.t.Context(), pickOne(m.g, "compact", "compact alpha"))
		if err != nil {
			require.ErrorIs(m.t, err, fenec.ErrNotFound)
			require.NotContains(m.t, m.world.cols, "alpha")
		}
	case n < 99:
		m.compareAll()
	default:
		m.reopen()
	}
	m.compareStats()
}

// single runs one statement.
func (m *model) single() {
	st := m.g.statement(m.world)
	next := m.world.clone()
	next.written, next.rows = 0, 0
	want := st.run(next)
	m.refuse = m.g.chance(3)
	m.note("%s %s", st.text, show(st.args))
	res, err := m.run(st)
	m.accept(next, want.err)
	if m.refused(next) && want.err == nil {
		require.ErrorIs(m.t, err, fenec.ErrOverLimit, st.text)
		return
	}
	require.NoError(m.t, want.matches(res, err), st.text)
	if want.err == nil {
		require.Equal(m.t, next.seq, res.Seq(), st.text)
		m.world = next
	}
}

// run runs a statement in one of the ways there are.
func (m *model) run(st statement) (*fenec.Result, error) {
	m.blocks = nil
	if m.g.chance(80) {
		return m.db.Query(m.t.Context(), st.text, st.args...)
	}
	p, err := m.db.Prepare(st.text)
	require.NoError(m.t, err, st.text)
	return p.Query(m.t.Context(), st.args...)
}

// refused reports whether the limit refuses the block that makes next.
func (m *model) refused(next *world) bool { return m.refuse && next.seq > m.world.seq }

// accept compares what the limit was asked with what next has over the world
// as it is.
func (m *model) accept(next *world, err error) {
	if err != nil || next.seq == m.world.seq {
		require.Empty(m.t, m.blocks, "the limit was asked about nothing")
		return
	}
	require.Len(m.t, m.blocks, 1)
	b := m.blocks[0]
	require.Equal(m.t, next.written, b.Written)
	require.Equal(m.t, next.rows, b.Rows)
	require.Equal(m.t, m.path != "", b.RecordBytes > 0)
	if b.Shrinks {
		require.LessOrEqual(m.t, b.LiveBytes, int64(0))
	}
	if !m.refuse {
		m.live += b.LiveBytes
	}
}

// batch runs several statements as one block.
func (m *model) batch() {
	next := m.world.clone()
	next.written, next.rows = 0, 0
	var stmts []fenec.Statement
	var wants []outcome
	var texts []string
	failed := -1
	for i := range 1 + m.g.IntN(5) {
		st := m.g.statement(next)
		stmts = append(stmts, fenec.Statement{Text: st.text, Args: st.args})
		texts = append(texts, st.text+" "+show(st.args))
		if failed >= 0 {
			continue // what follows a failure is not run
		}
		wants = append(wants, st.run(next))
		if wants[i].err != nil {
			failed = i
		}
	}
	m.note("batch [%s]", strings.Join(texts, "; "))
	m.refuse, m.blocks = m.g.chance(3), nil
	results, err := m.db.Batch(m.t.Context(), stmts)
	if failed >= 0 {
		m.accept(next, wants[failed].err)
		var be *fenec.BatchError
		require.ErrorAs(m.t, err, &be)
		require.Equal(m.t, failed, be.At, err)
		require.Zero(m.t, be.Completed)
		require.NoError(m.t, wants[failed].matches(nil, be.Err))
		return
	}
	m.accept(next, nil)
	if m.refused(next) {
		require.ErrorIs(m.t, err, fenec.ErrOverLimit)
		return
	}
	require.NoError(m.t, err)
	require.Len(m.t, results, len(wants))
	for i, want := range wants {
		require.NoError(m.t, want.matches(results[i], nil), stmts[i].Text)
		require.Equal(m.t, next.seq, results[i].Seq())
	}
	m.world = next
}

func (m *model) reopen() {
	for len(m.views) > 0 {
		m.endView()
	}
	if m.path == "" {
		return
	}
	m.note("reopen, NoCheckpoint=%t", m.opts.NoCheckpoint)
	require.NoError(m.t, m.db.Close())
	m.open()
	m.compareAll()
}

// compareStats compares the figures of the database with the model's.
func (m *model) compareStats() {
	st, err := m.db.Stats()
	require.NoError(m.t, err)
	require.Equal(m.t, m.world.seq, st.Seq)
	require.Equal(m.t, m.world.seq, m.db.Seq())
	require.Equal(m.t, m.live, st.LiveBytes)
	require.LessOrEqual(m.t, st.SyncedSeq, st.Seq)
	require.LessOrEqual(m.t, st.FoldedSeq, st.Seq)
	require.NoError(m.t, st.Failure)
	rows, live := map[string]int64{}, int64(0)
	for _, c := range st.Collections {
		rows[c.Name] = c.Rows
		live += c.LiveBytes
		require.Equal(m.t, c.Rows > 0, c.LiveBytes > 0, c.Name)
	}
	require.Equal(m.t, live, st.LiveBytes)
	want := map[string]int64{}
	for name, t := range m.world.cols {
		want[name] = int64(len(t.docs))
	}
	require.Equal(m.t, want, rows)
}

// compareAll compares every document.
func (m *model) compareAll() {
	m.note("compare")
	require.NoError(m.t, compareWorld(m.t.Context(), m.db.Query, m.world))
	names := slices.Sorted(maps.Keys(m.world.cols))
	require.Equal(m.t, names, slices.Sorted(slices.Values(m.db.Collections())))
}

type queryFunc func(ctx context.Context, text string, args ...any) (*fenec.Result, error)

// compareWorld compares every document of every collection with the model.
func compareWorld(ctx context.Context, query queryFunc, w *world) error {
	for _, name := range modelNames {
		want := outcome{err: fenec.ErrNotFound}
		if t := w.cols[name]; t != nil {
			want = outcome{columns: []string{"id"}}
			for _, f := range t.fields {
				want.columns = append(want.columns, f.name)
			}
			for _, id := range w.pick(t, clauses{limit: -1}) {
				row := []any{id}
				for _, f := range t.fields {
					row = append(row, t.docs[id][f.name])
				}
				want.rows = append(want.rows, row)
			}
		}
		res, err := query(ctx, "get "+name)
		if err := want.matches(res, err); err != nil {
			return fmt.Errorf("get %s: %w", name, err)
		}
	}
	return nil
}

// matches compares an answer with the outcome.
func (o outcome) matches(res *fenec.Result, err error) error {
	if !sameKind(err, o.err) {
		return fmt.Errorf("got error %w, want %v", err, o.err)
	}
	if err != nil {
		return nil
	}
	if o.plan != "" {
		return o.matchesPlan(res)
	}
	if res.Affected() != o.affected {
		return fmt.Errorf("got %d affected, want %d", res.Affected(), o.affected)
	}
	if !slices.Equal(res.Columns(), o.columns) || res.Len() != len(o.rows) {
		return fmt.Errorf("got %d rows of %v, want %d of %v", res.Len(), res.Columns(), len(o.rows), o.columns)
	}
	i := 0
	for row := range res.All() {
		for c := range o.columns {
			got, err := row.Value(c)
			if err != nil {
				return err
			}
			if want := plain(o.rows[i][c]); !reflect.DeepEqual(got, want) {
				return fmt.Errorf("row %d, column %s: got %#v, want %#v", i, o.columns[c], got, want)
			}
		}
		i++
	}
	return nil
}

func (o outcome) matchesPlan(res *fenec.Result) error {
	last := ""
	for row := range res.All() {
		var err error
		if last, err = row.Text("plan"); err != nil {
			return err
		}
	}
	if last != o.plan {
		return fmt.Errorf("the plan ends with %q, want %q", last, o.plan)
	}
	return nil
}

// plain returns a value of the model as a Result gives it.
func plain(v any) any {
	switch x := v.(type) {
	case moment:
		return x.Time()
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = plain(x[i])
		}
		return list
	}
	return v
}

func show(args []any) string {
	if len(args) == 0 {
		return ""
	}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = fmt.Sprintf("%#v", a)
		if v := reflect.ValueOf(a); v.Kind() == reflect.Pointer && !v.IsNil() {
			texts[i] = fmt.Sprintf("&%#v", v.Elem().Interface())
		}
	}
	return "with " + strings.Join(texts, ", ")
}

// heldView is a View that a goroutine holds open.
type heldView struct {
	end    chan struct{} // closed to let it compare and return
	result chan error
}

// holdView opens a view that is compared, when it ends, with the model as it
// is now.
func (m *model) holdView() {
	if len(m.views) == 3 {
		m.endView()
	}
	m.note("hold a view at %d", m.world.seq)
	now := m.world.clone()
	var checks []statement
	for name, t := range now.cols {
		checks = append(checks, m.viewCheck(name, t))
	}
	v := &heldView{make(chan struct{}), make(chan error, 1)}
	opened := make(chan struct{})
	go func() {
		v.result <- m.db.View(m.t.Context(), func(sn *fenec.Snapshot) error {
			close(opened)
			<-v.end
			now.now = m.world.now // which a view does not hold still
			if sn.Seq() != now.seq {
				return fmt.Errorf("the view stands at %d, want %d", sn.Seq(), now.seq)
			}
			for _, st := range checks {
				res, err := sn.Query(context.Background(), st.text, st.args...)
				if err := st.run(now).matches(res, err); err != nil {
					return fmt.Errorf("%s: %w", st.text, err)
				}
			}
			return compareWorld(context.Background(), sn.Query, now)
		})
	}()
	<-opened
	m.views = append(m.views, v)
}

func (m *model) viewCheck(name string, t *table) statement {
	m.g.args = nil
	if m.g.chance(30) {
		return m.g.count(name, t)
	}
	return m.g.get(name, t)
}

// endView lets a held view compare itself.
func (m *model) endView() {
	if len(m.views) == 0 {
		return
	}
	i := m.g.IntN(len(m.views))
	v := m.views[i]
	m.views = slices.Delete(m.views, i, i+1)
	m.note("end a view")
	close(v.end)
	err := <-v.result
	if m.small && errors.Is(err, fenec.ErrSnapshotTooOld) {
		m.ended++
		return
	}
	require.NoError(m.t, err)
	m.kept++
}

// finish closes the database and checks the file.
func (m *model) finish() {
	for len(m.views) > 0 {
		m.endView()
	}
	m.compareAll()
	require.NoError(m.t, m.db.Close())
	if m.path != "" {
		require.NoError(m.t, fenec.Check(m.path))
	}
}
