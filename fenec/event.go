package fenec

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// EventKind says what an event asks of the subscriber.
type EventKind uint8

// The kinds of events.
const (
	EventSeed   EventKind = iota + 1 // the rows replace all that is held
	EventChange                      // the rows are put in, those in Dels are taken out
)

// Event brings a subscriber to a sequence. Applying it twice is harmless.
type Event struct {
	Kind EventKind
	Seq  uint64  // of the whole database; the since to go on from
	Rows *Result // by id; of a change, what has changed and belongs to the shape now

	// Dels are the ids that have changed and do not belong to the shape now,
	// whether they ever did or not, ascending.
	Dels []uint64

	// Schema says that the collection's definition has changed.
	Schema bool
}

// AppendJSON appends the event as servers send it: {"seq":n,"rows":[…]} for a
// seed, {"seq":n,"puts":[…],"dels":[…],"schema":false} for a change.
func (e *Event) AppendJSON(dst []byte) ([]byte, error) {
	dst = strconv.AppendUint(append(dst, `{"seq":`...), e.Seq, 10)
	rows := `,"puts":`
	if e.Kind == EventSeed {
		rows = `,"rows":`
	}
	dst, err := e.Rows.AppendJSON(append(dst, rows...))
	if err != nil || e.Kind == EventSeed {
		return append(dst, '}'), err
	}
	dst = append(dst, `,"dels":[`...)
	for i, id := range e.Dels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, id, 10)
	}
	dst = strconv.AppendBool(append(dst, `],"schema":`...), e.Schema)
	return append(dst, '}'), nil
}

// maxChanged is how many documents may have changed before an event tells the
// whole shape anew.
const maxChanged = 20_000

// moment is a subscription that looks at a snapshot.
type moment struct {
	*Subscription
	view *store.View
	cat  *catalog.Catalog
	now  *catalog.Collection
}

// event returns what there is to tell, of kind 0 if nothing is.
func (m *moment) event(ctx context.Context) (Event, error) {
	var ids []uint64
	if !m.seed {
		var err error
		if ids, err = m.changed(); err != nil {
			return Event{}, err
		}
	}
	if m.now != m.def && !(m.seed && m.fresh) {
		m.schema = true
	}
	ev := Event{Kind: EventChange, Seq: m.view.Seq(), Schema: m.schema}
	var err error
	switch {
	case m.seed:
		ev.Kind, ev.Schema = EventSeed, false
		ev.Rows, err = m.run(ctx, m.shape.all, m.params)
	case len(ids) == 0 && !m.schema:
		ev = Event{}
	default:
		ev.Rows, ev.Dels, err = m.resolve(ctx, ids)
	}
	if err == nil {
		tells := true
		if tells, err = m.scope.narrow(&ev); !tells {
			ev = Event{}
		}
	}
	switch {
	case err == nil:
		m.cursor, m.seed = m.view.Seq(), false
		// What a seed does not tell is told next, at the same place.
		m.look = m.schema && ev.Kind == EventSeed
	case m.schema && !m.seed && errors.As(err, new(*fault.Error)):
		// The shape does not fit the changed schema any more. Tell that first.
		ev = Event{Kind: EventChange, Seq: m.cursor, Rows: noRows(), Schema: true}
	default:
		return Event{}, err
	}
	if ev.Schema {
		m.altered = m.view.Seq()
	}
	m.def, m.fresh = m.now, false
	m.schema = m.schema && ev.Kind == EventSeed
	return ev, nil
}

// changed returns the ids of the documents that have changed since the cursor,
// ascending. If that cannot be told, or is too much, the next event is a seed.
func (m *moment) changed() (ids []uint64, err error) {
	number := m.def.Number
	var gone, anew bool
	db := m.session.db
	_, ok, err := db.readHistory(m.cursor, m.view.Seq(), func(e history.Entry) bool {
		if e.Collection != number {
			gone = gone || e.Op == history.Drop && slices.Contains([]string{m.name, ""}, db.history.Name(e.Collection))
			return true
		}
		switch e.Op {
		case history.Put, history.Del:
			ids = append(ids, e.ID)
		case history.Alter:
			m.schema = m.schema || e.Seq > m.altered
		case history.Create:
			anew = gone // the subscriber may hold rows of another collection of that name
		}
		return true
	})
	if err != nil {
		return nil, public(err)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	m.seed = !ok || anew || len(ids) > maxChanged
	return ids, nil
}

// resolve returns the rows of the shape with those ids, and the ids that have
// none.
func (m *moment) resolve(ctx context.Context, ids []uint64) (*Result, []uint64, error) {
	if len(ids) == 0 {
		return noRows(), nil, nil
	}
	st, takes := m.shape.of(len(m.params), len(ids))
	params := slices.Grow(slices.Clip(m.params), takes)
	for i := range takes {
		params = append(params, value.Int(int64(ids[min(i, len(ids)-1)])))
	}
	rows, err := m.run(ctx, st, params)
	if err != nil {
		return nil, nil, err
	}
	var dels []uint64
	at := 0
	for _, id := range ids {
		if at < rows.Len() {
			found, err := rows.id(at)
			if err != nil {
				return nil, nil, err
			}
			if found == id {
				at++
				continue
			}
		}
		dels = append(dels, id)
	}
	return rows, dels, nil
}

func (m *moment) run(ctx context.Context, st *Stmt, params []value.Value) (*Result, error) {
	res, err := m.session.runGuarded(ctx, bound{st: st, params: params}, m.cat, m.view)
	return res, public(err)
}

// id returns the id of row i, whose first column it is.
func (r *Result) id(i int) (uint64, error) {
	v, err := r.value(i, 0)
	if err != nil {
		return 0, err
	}
	return uint64(v.AsInt()), nil
}

// noRows returns an answer of no rows.
func noRows() *Result { return &Result{kind: KindRows, rows: exec.NoRows()} }
