package fenec_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec"
)

// batch runs several statements as one block.
func (m *model) batch(ctx context.Context, e *event) error {
	next := m.world.clone()
	next.written, next.rows = 0, 0
	var stmts, bare []fenec.Statement
	var wants []outcome
	var places []int // of bare statements, in wants
	failed := -1
	for i := range e.stmts {
		st := &e.stmts[i]
		stmts = append(stmts, fenec.Statement{Text: st.text, Args: st.args})
		if failed >= 0 {
			continue // what follows a failure is not run
		}
		before := next.clone()
		want := next.run(st.tree, st.params)
		if want.vague {
			return nil
		}
		wants = append(wants, want)
		text := st.text
		switch {
		case want.err != nil:
			failed = i
			if definesIndexes(st) {
				text = "drop collection nowhere"
			}
		case definesIndexes(st):
			text = bareText(before, st)
		}
		if text != "" {
			bare = append(bare, fenec.Statement{Text: text, Args: st.args})
			places = append(places, i)
		}
	}
	results, err := m.db.Batch(ctx, stmts)
	if failed >= 0 {
		if err := m.asked(next, wants[failed].err); err != nil {
			return err
		}
		if err := failsAt(err, failed, wants[failed]); err != nil {
			return err
		}
		_, err := m.bare.Batch(ctx, bare)
		if definesIndexes(&e.stmts[failed]) {
			wants[failed].err = fenec.ErrNotFound
		}
		return failsAt(err, len(bare)-1, wants[failed])
	}
	if err := m.asked(next, nil); err != nil {
		return err
	}
	if m.refused(next) {
		if !errors.Is(err, fenec.ErrOverLimit) {
			return fmt.Errorf("got %v, want it refused", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	for i, want := range wants {
		if err := want.matches(results[i], nil); err != nil {
			return fmt.Errorf("statement %d: %w", i, err)
		}
	}
	results, err = m.bare.Batch(ctx, bare)
	if err != nil {
		return fmt.Errorf("with few indexes: %w", err)
	}
	for i, at := range places {
		if st := &e.stmts[at]; !definesIndexes(st) && !isSchema(st) {
			if err := wants[at].matches(results[i], nil); err != nil {
				return fmt.Errorf("with few indexes: statement %d: %w", at, err)
			}
		}
	}
	m.world = next
	return nil
}

// failsAt checks the error of a batch.
func failsAt(err error, at int, want outcome) error {
	var be *fenec.BatchError
	if !errors.As(err, &be) || be.At != at || be.Completed != 0 {
		return fmt.Errorf("got %v, want statement %d to fail", err, at)
	}
	return want.matches(nil, be.Err)
}
