package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// hashOf is what the row b adds to a sum, computed from its bytes alone.
func hashOf(id uint64, b []byte) uint64 {
	mix := func(x uint64) uint64 {
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return mix(mix(id) ^ (uint64(sum)<<32 | uint64(len(b))))
}

// figures returns the figures of a collection and the sum of its rows as they are.
func (d *db) figures(t testing.TB, name string) (f table.Figures, counted uint64) {
	t.Helper()
	d.read(t, name, func(r *table.Reader) {
		var err error
		f, err = r.Figures()
		require.NoError(t, err)
		s := r.Scan(0, ^uint64(0), false)
		for s.Next() {
			counted += hashOf(s.ID(), s.Row())
		}
		require.NoError(t, s.Err())
	})
	return f, counted
}

// The hash of a row is part of files, and each bit of what it is made of matters.
func TestRowHash(t *testing.T) {
	require.Equal(t, uint64(0xac4e9ed01ff39cb4), table.RowHash(1, 0xe3069283, 9)) // of "123456789"
	r := rand.New(rand.NewPCG(1, 91))
	flipped := 0
	const rounds = 200
	for range rounds {
		id, sum, size := r.Uint64(), r.Uint32(), r.IntN(1<<31)
		h := table.RowHash(id, sum, size)
		require.NotEqual(t, h, table.RowHash(id+1, sum, size))
		require.NotEqual(t, h, table.RowHash(id, sum+1, size))
		require.NotEqual(t, h, table.RowHash(id, sum, size+1))
		for bit := range 32 {
			flipped += bits.OnesCount64(h ^ table.RowHash(id^1<<bit, sum, size))
			flipped += bits.OnesCount64(h ^ table.RowHash(id, sum^1<<bit, size))
		}
	}
	require.InDelta(t, 32, float64(flipped)/(rounds*64), 0.5, "bits of 64 that one bit changes")
}

// Whatever is done, the sum is that of the rows, in blocks, after a replay and in
// the file.
func TestSumModel(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 91))
			d := newDB(t)
			m := map[string]map[uint64]string{}
			for range 80 {
				after := clone(m)
				if d.block(t, func(x *tx) error {
					for range 1 + r.IntN(6) {
						if err := step(x, after, r); err != nil {
							return err
						}
					}
					return nil
				}) == nil {
					m = after
				}
				switch r.IntN(10) {
				case 0:
					require.NoError(t, d.Checkpoint(ctx))
				case 1:
					d = d.check(t)
				}
				for name := range m {
					f, counted := d.figures(t, name)
					require.False(t, f.Unsummed)
					require.Equal(t, counted, f.Sum, name)
				}
			}
		})
	}
}

// Expired rows in the way of a write are subtracted.
func TestSumExpired(t *testing.T) {
	d, c := sessions(t)
	d.must(t, func(x *tx) error {
		w := x.writer("ses")
		return errors.Join(w.Put(2, encode(c, session("b", now))), w.Put(3, encode(c, session("e", now))))
	})
	f, counted := d.figures(t, "ses")
	require.EqualValues(t, 4, f.Rows, "all but 5")
	require.Equal(t, counted, f.Sum)
	d.check(t)
}

// Rows that are older than sums have none until a write finds few of them.
func TestUnsummed(t *testing.T) {
	const few = table.ResumRows
	for name, c := range map[string]struct {
		rows   uint64
		write  func(x *tx) error
		summed bool
	}{
		"few":             {few, func(x *tx) error { return x.put("c", 1, person("x", 1, "")...) }, true},
		"many":            {few + 1, func(x *tx) error { return x.put("c", 1, person("x", 1, "")...) }, false},
		"one too many":    {few + 1, func(x *tx) error { return x.delete("c", 1) }, false},
		"few by the end":  {few + 1, func(x *tx) error { return errors.Join(x.delete("c", 1), x.delete("c", 2)) }, true},
		"a new row":       {few, func(x *tx) error { return x.put("c", few+1, person("x", 1, "")...) }, true},
		"none to be seen": {few, func(*tx) error { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDB(t)
			d.must(t, func(x *tx) error { return x.create("create collection c (a text, b int, c text, d text)") })
			d.must(t, func(x *tx) error {
				for id := range c.rows {
					if err := x.put("c", id+1, person("x", int(id), "")...); err != nil {
						return err
					}
				}
				return nil
			})
			d.must(t, func(x *tx) error {
				key := figuresKey(x.cat.Find("c"))
				f, err := x.View().Get(table.Meta, key)
				return errors.Join(err, tamper(d, x, table.Meta, key, bytes.Clone(f[:24])))
			})
			require.NoError(t, d.Checkpoint(ctx))
			d = d.check(t)
			d.must(t, c.write)
			for range 2 {
				f, counted := d.figures(t, "c")
				require.Equal(t, c.summed, !f.Unsummed)
				if c.summed {
					require.Equal(t, counted, f.Sum)
				} else {
					require.Zero(t, f.Sum)
				}
				d = d.check(t)
			}
		})
	}
}

// An empty collection is summed whatever its file has of it.
func TestUnsummedEmpty(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(people) })
	d.must(t, func(x *tx) error {
		return tamper(d, x, table.Meta, figuresKey(x.cat.Find("people")), make([]byte, 24))
	})
	f, _ := d.figures(t, "people")
	require.Zero(t, f)
}

func TestSpans(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(people) })
	d.must(t, func(x *tx) error {
		for id := uint64(3); id <= 21; id += 3 {
			if err := x.put("people", id, person(fmt.Sprint(id), 1, "")...); err != nil {
				return err
			}
		}
		return nil
	})
	f, _ := d.figures(t, "people")
	for most, want := range map[int][]table.Span{
		0: {{First: 3, Last: 21, Rows: 7}},
		3: {{First: 3, Last: 9, Rows: 3}, {First: 12, Last: 18, Rows: 3}, {First: 21, Last: 21, Rows: 1}},
		7: {{First: 3, Last: 21, Rows: 7}},
		9: {{First: 3, Last: 21, Rows: 7}},
	} {
		var got []table.Span
		var sum uint64
		d.read(t, "people", func(r *table.Reader) {
			require.NoError(t, r.Spans(ctx, most, func(s table.Span) {
				sum += s.Sum
				s.Sum = 0
				got = append(got, s)
			}))
		})
		require.Equal(t, want, got, "most %d", most)
		require.Equal(t, f.Sum, sum)
	}
}

// Spans ends with its context, and at a row that is not as it was written.
func TestSpansFail(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create("create collection c (a text, b int, c text, d text)") })
	d.must(t, func(x *tx) error {
		for id := range uint64(1100) {
			if err := x.put("c", id+1, person("x", 1, "")...); err != nil {
				return err
			}
		}
		return nil
	})
	none := func(table.Span) { t.Error("a span") }
	d.read(t, "c", func(r *table.Reader) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		require.ErrorIs(t, r.Spans(ended, 0, none), context.Canceled)
	})
	d.must(t, func(x *tx) error {
		return tamper(d, x, x.cat.Find("c").RowSpace, idKey(7), []byte("no sealed row"))
	})
	d.read(t, "c", func(r *table.Reader) { require.ErrorIs(t, r.Spans(ctx, 0, none), row.ErrCorrupt) })
}
