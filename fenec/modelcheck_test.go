package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// matches compares an answer with the outcome.
func (o outcome) matches(res *fenec.Result, err error) error {
	if o.vague {
		for _, kind := range []error{nil, fenec.ErrQuery, fenec.ErrType, fenec.ErrNotFound, fenec.ErrUnmet} {
			if sameKind(err, kind) {
				return nil
			}
		}
		return err
	}
	if !sameKind(err, o.err) {
		return fmt.Errorf("got error %w, want %v", err, o.err)
	}
	switch {
	case err != nil:
		return nil
	case o.json == "" && o.plan != "":
		return o.matchesPlan(res)
	case res.Affected() != o.affected:
		return fmt.Errorf("got %d affected, want %d", res.Affected(), o.affected)
	case o.json == "":
		return nil
	case o.columns != nil && !slices.Equal(res.Columns(), o.columns):
		return fmt.Errorf("got columns %q, want %q", res.Columns(), o.columns)
	}
	got, err := res.AppendJSON(nil)
	if err == nil && string(got) != o.json {
		err = differ(string(got), o.json)
	}
	return err
}

// differ returns an error that shows two texts from a little before where they
// begin to differ.
func differ(got, want string) error {
	const before, most = 200, 1000
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	at = max(0, at-before)
	cut := func(s string) string { return s[at:min(len(s), at+most)] }
	return fmt.Errorf("got  %s\nwant %s", cut(got), cut(want))
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

// compareStats compares the figures of the database with the model's.
func (m *model) compareStats() error {
	st, err := m.db.Stats()
	if err != nil {
		return err
	}
	rows, live := map[string]int64{}, int64(0)
	for _, c := range st.Collections {
		rows[c.Name] = c.Rows
		live += c.LiveBytes
		if c.Rows > 0 != (c.LiveBytes > 0) {
			return fmt.Errorf("%d rows of %d bytes in %s", c.Rows, c.LiveBytes, c.Name)
		}
	}
	want := map[string]int64{}
	for name, t := range m.world.cols {
		want[name] = int64(len(t.docs))
	}
	switch {
	case st.Seq != m.world.seq || m.db.Seq() != st.Seq:
		return fmt.Errorf("the database stands at %d, want %d", st.Seq, m.world.seq)
	case st.LiveBytes != m.live || live != m.live:
		return fmt.Errorf("%d live bytes, %d of collections, want %d", st.LiveBytes, live, m.live)
	case st.SyncedSeq > st.Seq || st.FoldedSeq > st.Seq || st.Failure != nil || st.LinkFailure != nil:
		return fmt.Errorf("figures that cannot be: %+v", st)
	case !maps.Equal(want, rows):
		return fmt.Errorf("got rows %v, want %v", rows, want)
	}
	return nil
}

// compareAll compares every document.
func (m *model) compareAll(ctx context.Context) error {
	names := slices.Sorted(maps.Keys(m.world.cols))
	if got := slices.Sorted(slices.Values(m.db.Collections())); !slices.Equal(got, names) {
		return fmt.Errorf("got collections %q, want %q", got, names)
	}
	if err := compareWorld(ctx, m.db.Query, m.world); err != nil {
		return err
	}
	if err := compareWorld(ctx, m.bare.Query, m.world); err != nil {
		return fmt.Errorf("with few indexes: %w", err)
	}
	res, err := m.db.Query(ctx, "collections")
	return m.world.describe(m.world.names...).matches(res, err)
}

type queryFunc func(ctx context.Context, text string, args ...any) (*fenec.Result, error)

// compareWorld compares every document of every collection with the model.
func compareWorld(ctx context.Context, query queryFunc, w *world) error {
	g := generator{}
	for _, name := range modelNames {
		st := g.made("get " + name)
		res, err := query(ctx, st.text)
		if err := w.run(st.tree, nil).matches(res, err); err != nil {
			return fmt.Errorf("%s: %w", st.text, err)
		}
	}
	return nil
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
	end    chan moment // told the time when it is to compare and return
	result chan error
}

// holdView opens a view that is compared, when it ends, with the model as it
// is now.
func (m *model) holdView(e *event) error {
	if len(m.views) == 3 {
		if err := m.endView(e.n); err != nil {
			return err
		}
	}
	now := m.world.clone()
	v := &heldView{make(chan moment), make(chan error, 1)}
	opened := make(chan struct{})
	go func() {
		v.result <- m.db.View(context.Background(), func(sn *fenec.Snapshot) error {
			close(opened)
			now.now = <-v.end // which a view does not hold still
			if sn.Seq() != now.seq {
				return fmt.Errorf("the view stands at %d, want %d", sn.Seq(), now.seq)
			}
			for _, st := range e.stmts {
				res, err := sn.Query(context.Background(), st.text, st.args...)
				if err := now.run(st.tree, st.params).matches(res, err); err != nil {
					return fmt.Errorf("%s: %w", st.text, err)
				}
			}
			return compareWorld(context.Background(), sn.Query, now)
		})
	}()
	<-opened
	m.views = append(m.views, v)
	return nil
}

// endView lets a held view compare itself.
func (m *model) endView(n int) error {
	if len(m.views) == 0 {
		return nil
	}
	i := n % len(m.views)
	v := m.views[i]
	m.views = slices.Delete(m.views, i, i+1)
	v.end <- m.world.now
	err := <-v.result
	if m.small && errors.Is(err, fenec.ErrSnapshotTooOld) {
		m.ended++
		return nil
	}
	m.kept++
	return err
}

func (m *model) endViews() error {
	var errs []error
	for len(m.views) > 0 {
		errs = append(errs, m.endView(0))
	}
	return errors.Join(errs...)
}

func (m *model) reopen(ctx context.Context, keepLog bool) error {
	if err := m.endViews(); err != nil {
		return err
	}
	if m.path == "" {
		return nil
	}
	if err := errors.Join(m.db.Close(), m.open(keepLog)); err != nil {
		return err
	}
	return m.compareAll(ctx)
}

// finish compares everything, closes the databases and checks the file.
func (m *model) finish() error {
	err := m.endViews()
	if err == nil {
		err = m.compareAll(context.Background())
	}
	err = errors.Join(err, m.db.Close(), m.bare.Close())
	if err == nil && m.path != "" {
		err = fenec.Check(m.path)
	}
	return err
}
