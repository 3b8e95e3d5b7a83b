package fenec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// Subscribers that apply what they hear hold in the end what a query answers,
// whatever writers, schema changes, checkpoints and a short history do meanwhile.
func TestSubscribersConverge(t *testing.T) {
	writes := 300
	if os.Getenv("FENEC_LONG") != "" {
		writes = 5000
	}
	for name, opts := range map[string]fenec.Options{
		"long history":  {},
		"short history": {HistoryEntries: 12},
		"few bytes":     {HistoryBytes: 200, FrontBytes: 1},
		"no history":    {HistoryEntries: -1},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := fenec.Open(filepath.Join(t.TempDir(), "acme.fenec"), opts)
			require.NoError(t, err)
			defer db.Close()
			runAll(t, db, streamCollections...)

			var subscribers, writers sync.WaitGroup
			last := lastWrite{written: make(chan struct{}), seq: map[string]uint64{}}
			var all []*subscriber
			for _, c := range streamNames {
				for i, shape := range streamShapes(c) {
					s := &subscriber{db: db, shape: shape, r: rand.New(rand.NewPCG(uint64(i), 5)), last: &last}
					all = append(all, s)
					subscribers.Go(s.run)
				}
			}
			for i := range 3 {
				writers.Go(func() { streamWrites(db, rand.New(rand.NewPCG(uint64(i), 6)), writes) })
			}
			writers.Wait()
			// A last write that every subscriber is told of, matching or not.
			for _, c := range streamNames {
				runAll(t, db, `put `+c+` {tag: "last"}`)
				last.seq[c] = db.Seq()
			}
			close(last.written)
			subscribers.Wait()
			for _, s := range all {
				require.NoError(t, s.err)
				text := "get " + s.shape.Collection + " where " + s.shape.Where
				if s.shape.Select != nil {
					text += " select id, tag"
				}
				want, err := rowsByID([]byte(body(t, db, text)))
				require.NoError(t, err)
				require.Equal(t, want, s.held, "%+v", s.shape)
				if opts.HistoryEntries >= 0 && s.shape.Collection == streamNames[0] {
					require.Positive(t, s.changes)
				}
			}
		})
	}
}

var (
	streamNames       = []string{"calm", "wild"}
	streamCollections = []string{
		`create collection calm (tag text @hash, n int @sorted)`,
		`create collection wild (tag text @hash, n int @sorted)`,
		`create collection other (n int)`,
	}
)

func streamShapes(collection string) []fenec.Shape {
	return []fenec.Shape{
		{Collection: collection, Where: "true"},
		{Collection: collection, Where: "n > 50"},
		{Collection: collection, Where: `tag = "a" or tag = "b"`, Select: []string{"tag"}},
		{Collection: collection, Where: "false"},
	}
}

// streamWrites makes writes of all kinds. The wild collection is altered, dropped
// and made anew.
func streamWrites(db *fenec.DB, r *rand.Rand, writes int) {
	for range writes {
		c := streamNames[r.IntN(2)]
		text := ""
		switch r.IntN(14) {
		case 0:
			text = `del ` + c + ` where n < 40 limit 5`
		case 1:
			text = fmt.Sprintf(`put other [{n: 1}, {n: %d}, {n: 3}]`, r.IntN(9))
		case 2:
			text = fmt.Sprintf(`set %s {n: %d} where tag = "b"`, c, r.IntN(100))
		case 3:
			text = fmt.Sprintf(`alter collection wild add field x%d int`, r.Uint32())
		case 4:
			text = `create index if not exists on calm (n) @hash`
		case 5:
			if r.IntN(8) == 0 {
				_, _ = db.Batch(ctx, []fenec.Statement{{Text: `drop collection wild`}, {Text: streamCollections[1]}})
				continue
			}
			text = `put other {n: 1}`
		case 6:
			_ = db.Checkpoint(ctx) // beside the other writers
			continue
		default:
			text = fmt.Sprintf(`put %s {id: %d, tag: "%c", n: %d}`, c, 1+r.IntN(60), 'a'+rune(r.IntN(4)), r.IntN(100))
		}
		_, _ = db.Query(ctx, text) // some make no sense at the moment
	}
}

// lastWrite says when nothing more comes.
type lastWrite struct {
	written chan struct{}     // closed when seq is set
	seq     map[string]uint64 // by collection
}

// subscriber holds the rows of a shape as it hears of them.
type subscriber struct {
	db    *fenec.DB
	shape fenec.Shape
	r     *rand.Rand
	last  *lastWrite

	held    map[uint64]string
	cursor  uint64
	changes int
	err     error
}

// run hears events until there are none any more.
func (s *subscriber) run() {
	s.cursor = fenec.NoCursor
	waits, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-s.last.written
		cancel()
	}()
	for s.err == nil {
		s.err = s.stream(waits)
		if waits.Err() != nil {
			break
		}
	}
	// What was written by then is there to be heard at once.
	for s.err == nil && (s.cursor == fenec.NoCursor || s.cursor < s.last.seq[s.shape.Collection]) {
		s.err = s.stream(ctx)
	}
}

// stream subscribes and hears some events.
func (s *subscriber) stream(waits context.Context) error {
	sub, err := s.db.Subscribe(ctx, s.shape, s.cursor)
	if err != nil {
		return err
	}
	defer sub.Close()
	for range 1 + s.r.IntN(10) {
		ev, err := sub.Next(waits)
		switch {
		case errors.Is(err, fenec.ErrNotFound):
			s.cursor = fenec.NoCursor // the collection was made anew
			return nil
		case errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		}
		if err := s.apply(&ev); err != nil {
			return err
		}
		if ev.Schema {
			s.cursor = fenec.NoCursor // rows look different now
			return nil
		}
		if waits == ctx {
			return nil
		}
	}
	return nil
}

func (s *subscriber) apply(ev *fenec.Event) error {
	if ev.Kind == fenec.EventChange && (s.cursor == fenec.NoCursor || ev.Seq < s.cursor) {
		return fmt.Errorf("a change to %d at %d", ev.Seq, s.cursor)
	}
	b, err := ev.AppendJSON(nil)
	if err != nil {
		return err
	}
	var told struct {
		Seq        uint64
		Rows, Puts json.RawMessage
		Dels       []uint64
	}
	if err := json.Unmarshal(b, &told); err != nil {
		return err
	}
	s.cursor = told.Seq
	if ev.Kind == fenec.EventSeed {
		s.held, err = rowsByID(told.Rows)
		return err
	}
	s.changes++
	puts, err := rowsByID(told.Puts)
	maps.Copy(s.held, puts)
	for _, id := range told.Dels {
		delete(s.held, id)
	}
	return err
}

// rowsByID reads a list of rows.
func rowsByID(list []byte) (map[uint64]string, error) {
	var rows []json.RawMessage
	if err := json.Unmarshal(list, &rows); err != nil {
		return nil, err
	}
	found := map[uint64]string{}
	for _, row := range rows {
		var named struct{ ID uint64 }
		if err := json.Unmarshal(row, &named); err != nil {
			return nil, err
		}
		found[named.ID] = string(row)
	}
	return found, nil
}
