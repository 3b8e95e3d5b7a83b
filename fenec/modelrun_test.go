package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// model is one run of the model test: two databases and the world that both
// must be like.
type model struct {
	seed  uint64
	dir   string
	db    *fenec.DB
	bare  *fenec.DB // with few indexes, in memory
	path  string    // "" in memory
	small bool      // the front is small: held views may be ended
	opts  fenec.Options
	world *world
	views []*heldView

	// What the limit has been asked about the statement being run.
	blocks []fenec.Block
	refuse bool
	live   int64 // bytes, from the blocks
	kept   int   // views that were compared at their end
	ended  int   // views that were ended by the database
}

// event is one step of a run. It can be taken again in another run.
type event struct {
	kind  string // "single", "batch", "checkpoint" and so on
	tick  moment // how far the clock moves before
	stmts []statement
	flag  bool // how it is done
	n     int  // which view
	deny  bool // the limit refuses it
}

func (e *event) String() string {
	var texts []string
	for _, st := range e.stmts {
		text := strings.TrimSpace(st.text + " " + show(st.args))
		if len(text) > 2000 {
			text = text[:2000] + "…"
		}
		texts = append(texts, text)
	}
	out := fmt.Sprintf("+%dms %s %s", e.tick, e.kind, strings.Join(texts, " ;; "))
	if e.deny {
		out += " (refused)"
	}
	return out
}

var errRefused = fenec.Over("the model says no")

func startModel(seed uint64, dir string) (*model, error) {
	m := &model{seed: seed, dir: dir, world: newWorld()}
	m.world.now = modelStart + moment(3*units["d"])
	m.opts = fenec.Options{
		Sync:          fenec.SyncOff,
		Clock:         func() time.Time { return m.world.now.Time() },
		SweepInterval: -1,
	}
	if seed%3 != 0 { // in memory nothing waits for a disk, so more is folded
		m.path = filepath.Join(dir, "model.fenec")
	}
	if m.small = seed%2 == 0; m.small {
		m.opts.FrontBytes = 16 << 10
	}
	var err error
	if m.bare, err = fenec.OpenMemory(m.opts); err != nil {
		return nil, err
	}
	return m, m.open(false)
}

func (m *model) open(keepLog bool) (err error) {
	m.opts.NoCheckpoint = keepLog
	if m.db, err = fenec.Open(m.path, m.opts); err != nil {
		return err
	}
	m.db.SetLimit(func(b fenec.Block) error {
		m.blocks = append(m.blocks, b)
		if m.refuse {
			return errRefused
		}
		return nil
	})
	return nil
}

// next makes an event.
func (m *model) next(g *generator) *event {
	e := &event{tick: moment(g.IntN(5000)), flag: g.chance(50), n: g.IntN(100), deny: g.chance(3)}
	if g.chance(3) {
		e.tick = moment(g.IntN(12 * 3600_000))
	}
	switch n := g.IntN(100); {
	case n < 72:
		e.kind, e.stmts = "single", []statement{g.statement(m.at(e.tick))}
	case n < 87:
		e.kind, e.stmts = "batch", m.nextBatch(g, e.tick)
	case n < 91:
		e.kind = "hold"
		g.w, g.args = m.world, nil
		for _, name := range slices.Sorted(maps.Keys(m.world.cols)) {
			g.args = nil
			e.stmts = append(e.stmts, g.read(m.world.cols[name]))
		}
	case n < 94:
		e.kind = "end"
	case n < 96:
		e.kind = "checkpoint"
	case n < 97:
		e.kind = pickOne(g, "sweep", "compact", "compact alpha")
	case n < 99:
		e.kind = "compare"
	default:
		e.kind = "reopen"
	}
	return e
}

// at returns the world as it is after some time.
func (m *model) at(tick moment) *world {
	w := m.world.clone()
	w.now += tick
	return w
}

// nextBatch makes statements, each for what those before it have made.
func (m *model) nextBatch(g *generator, tick moment) []statement {
	w := m.at(tick)
	var stmts []statement
	ok := true
	for range 1 + g.IntN(5) {
		st := g.statement(w)
		stmts = append(stmts, st)
		if ok {
			ok = w.run(st.tree, st.params).err == nil
		}
	}
	return stmts
}

// apply takes a step and compares everything that can be seen of it.
func (m *model) apply(e *event) (err error) {
	m.world.now += e.tick
	m.refuse, m.blocks = e.deny, nil
	ctx := context.Background()
	switch e.kind {
	case "single":
		err = m.single(ctx, e)
	case "batch":
		err = m.batch(ctx, e)
	case "hold":
		err = m.holdView(e)
	case "end":
		err = m.endView(e.n)
	case "checkpoint":
		err = m.db.Checkpoint(ctx)
	case "compact", "compact alpha":
		_, err = m.db.Query(ctx, e.kind)
		if errors.Is(err, fenec.ErrNotFound) && m.world.cols["alpha"] == nil {
			err = nil
		}
	case "compare":
		err = m.compareAll(ctx)
	case "reopen":
		err = m.reopen(ctx, e.flag)
	case "sweep":
		err = m.sweep(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return m.compareStats()
}

// single runs one statement.
func (m *model) single(ctx context.Context, e *event) error {
	st := &e.stmts[0]
	next := m.world.clone()
	next.written, next.rows = 0, 0
	want := next.run(st.tree, st.params)
	if want.vague && st.writes() {
		return nil
	}
	res, err := m.run(ctx, m.db, st, e.flag)
	if err := m.asked(next, want.err); err != nil {
		return err
	}
	if m.refused(next) && want.err == nil {
		if !errors.Is(err, fenec.ErrOverLimit) {
			return fmt.Errorf("got %v, want it refused", err)
		}
		return nil
	}
	if err := want.matches(res, err); err != nil {
		return err
	}
	if want.err == nil && !want.vague && next.seq != res.Seq() {
		return fmt.Errorf("got sequence %d, want %d", res.Seq(), next.seq)
	}
	if err := m.singleBare(ctx, st, want); err != nil {
		return fmt.Errorf("with few indexes: %w", err)
	}
	if want.err == nil {
		m.world = next
	}
	return nil
}

// writes reports whether a statement changes rows.
func (st *statement) writes() bool {
	switch st.tree.(type) {
	case *ql.Set, *ql.Del, *ql.Put:
		return true
	}
	return false
}

func (m *model) singleBare(ctx context.Context, st *statement, want outcome) error {
	if !definesIndexes(st) {
		if want.json != "" && st.tree != nil && isSchema(st) {
			return nil
		}
		res, err := m.run(ctx, m.bare, st, false)
		return want.matches(res, err)
	}
	if want.err != nil {
		return nil
	}
	text := bareText(m.world, st)
	if text == "" {
		return nil
	}
	_, err := m.bare.Query(ctx, text, st.args...)
	return err
}

// isSchema reports whether a statement answers schemas.
func isSchema(st *statement) bool {
	switch st.tree.(type) {
	case *ql.Describe, *ql.Collections:
		return true
	}
	return false
}

// run runs a statement in one of the ways there are.
func (m *model) run(ctx context.Context, db *fenec.DB, st *statement, prepare bool) (*fenec.Result, error) {
	if !prepare {
		return db.Query(ctx, st.text, st.args...)
	}
	p, err := db.Prepare(st.text)
	if err != nil {
		return nil, err
	}
	return p.Query(ctx, st.args...)
}

// refused reports whether the limit refuses the block that makes next.
func (m *model) refused(next *world) bool { return m.refuse && next.seq > m.world.seq }

// asked compares what the limit was asked with what next has over the world as
// it is.
func (m *model) asked(next *world, err error) error {
	if err != nil || next.seq == m.world.seq {
		if len(m.blocks) > 0 {
			return fmt.Errorf("the limit was asked about nothing: %+v", m.blocks)
		}
		return nil
	}
	if len(m.blocks) != 1 {
		return fmt.Errorf("the limit was asked %d times", len(m.blocks))
	}
	b := m.blocks[0]
	if b.Written != next.written || b.Rows != next.rows || b.RecordBytes > 0 != (m.path != "") || b.Shrinks && b.LiveBytes > 0 {
		return fmt.Errorf("the limit was asked about %+v, want %d written and %d rows", b, next.written, next.rows)
	}
	if !m.refuse {
		m.live += b.LiveBytes
	}
	return nil
}

// sweep removes what is expired.
func (m *model) sweep(ctx context.Context) error {
	m.refuse = false
	next := m.world.clone()
	next.written, next.rows = 0, 0
	want := next.sweep()
	for _, db := range []*fenec.DB{m.db, m.bare} {
		if got, err := db.Sweep(ctx); got != want || err != nil {
			return fmt.Errorf("a sweep removes %d, %w, want %d", got, err, want)
		}
	}
	for _, b := range m.blocks {
		m.live += b.LiveBytes
		next.written -= b.Written
		next.rows -= b.Rows
	}
	if next.written != 0 || next.rows != 0 {
		return fmt.Errorf("the limit was asked about %+v", m.blocks)
	}
	m.world = next
	return nil
}
