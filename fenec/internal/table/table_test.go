package table_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func TestRows(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(people) })
	d.must(t, func(x *tx) error {
		return errors.Join(
			x.put("people", 1, person("ann", 30, "oslo")...),
			x.put("people", 2, person("bob", 20, "rome")...),
			x.put("people", 9, person("", 20, "oslo")...))
	})
	d.must(t, func(x *tx) error {
		return errors.Join(x.put("people", 2, person("bob", 25, "oslo")...), x.delete("people", 1))
	})
	for range 2 {
		all := []string{`2 "bob" 25 "oslo" null`, `9 null 20 "oslo" null`}
		require.Equal(t, all, d.rows(t, "people", 0, ^uint64(0), false))
		require.Equal(t, all[1:], d.rows(t, "people", 3, 9, false))
		require.Equal(t, all[:1], d.rows(t, "people", 1, 8, true))
		require.Empty(t, d.rows(t, "people", 3, 8, false))
		slices.Reverse(all)
		require.Equal(t, all, d.rows(t, "people", 0, ^uint64(0), true))
		d.read(t, "people", func(r *table.Reader) {
			b, err := r.Get(2)
			require.NoError(t, err)
			require.Equal(t, encode(r.Collection(), person("bob", 25, "oslo")), b)
			b, err = r.Get(1)
			require.NoError(t, err)
			require.Nil(t, b)
			n, err := r.Rows()
			require.NoError(t, err)
			require.EqualValues(t, 2, n)
		})
		d = d.check(t)
	}
	d.must(t, func(x *tx) error {
		id, err := x.Writer(x.cat.Find("people")).NextID()
		require.EqualValues(t, 10, id, "an id is not used again")
		return err
	})
}

// An index has one entry for each row, in order of value, then id.
func TestIndexOrder(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(people) })
	d.must(t, func(x *tx) error {
		for id := uint64(1); id <= 30; id++ {
			if err := x.put("people", id, value.Text(fmt.Sprint("p", id)), value.Int(int64(id*7%5)), value.Value{}); err != nil {
				return err
			}
		}
		return nil
	})
	c := d.cat.Find("people")
	d.read(t, "people", func(r *table.Reader) {
		var ids, back []uint64
		s := r.Index(c.Fields[1].Index, nil, nil, false)
		last := ""
		for s.Next() {
			require.GreaterOrEqual(t, string(s.ValueKey()), last)
			last = string(s.ValueKey())
			ids = append(ids, s.ID())
		}
		require.NoError(t, s.Err())
		require.Len(t, ids, 30)
		require.True(t, slices.IsSortedFunc(ids, func(a, b uint64) int {
			return int(a*7%5*100+a) - int(b*7%5*100+b)
		}))
		s = r.Index(c.Fields[1].Index, nil, nil, true)
		for s.Next() {
			back = append(back, s.ID())
		}
		slices.Reverse(back)
		require.Equal(t, ids, back)

		three := key.Append(nil, value.Int(3))
		s = r.Index(c.Fields[1].Index, three, key.Next(three), false)
		n := 0
		for s.Next() {
			require.EqualValues(t, 3, s.ID()*7%5)
			n++
		}
		require.Equal(t, 6, n)
	})
}

func TestUnique(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(people) })
	d.must(t, func(x *tx) error {
		return errors.Join(
			x.put("people", 1, person("ann", 1, "")...), x.put("people", 2, person("", 1, "")...),
			x.put("people", 3, person("", 1, "")...), x.put("people", 4, person(long+"a", 1, "")...))
	})
	for name, write := range map[string]func(x *tx) error{
		"another row":  func(x *tx) error { return x.put("people", 5, person("ann", 1, "")...) },
		"an update":    func(x *tx) error { return x.put("people", 2, person("ann", 1, "")...) },
		"a long value": func(x *tx) error { return x.put("people", 5, person(long+"a", 1, "")...) },
		"the same block": func(x *tx) error {
			return errors.Join(x.put("people", 5, person("new", 1, "")...), x.put("people", 6, person("new", 1, "")...))
		},
	} {
		err := d.block(t, write)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Duplicate}, name)
		require.Less(t, len(err.Error()), 200, name)
	}
	for _, c := range []struct {
		name  string
		write func(x *tx) error
	}{
		{"its own", func(x *tx) error { return x.put("people", 1, person("ann", 2, "")...) }},
		{"null", func(x *tx) error { return x.put("people", 5, person("", 1, "")...) }},
		{"a long one that ends otherwise", func(x *tx) error { return x.put("people", 6, person(long+"b", 1, "")...) }},
		{"one that was given up", func(x *tx) error {
			return errors.Join(x.put("people", 1, person("eve", 1, "")...), x.put("people", 7, person("ann", 1, "")...))
		}},
		{"one that was deleted", func(x *tx) error {
			return errors.Join(x.delete("people", 4), x.put("people", 8, person(long+"a", 1, "")...))
		}},
	} {
		require.NoError(t, d.block(t, c.write), c.name)
	}
	d.check(t)
}

// What a block says it does is what the figures change by.
func TestChange(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return errors.Join(x.create(people), x.create("create collection _own (a text)")) })
	size := func(name string, vals ...value.Value) int64 { return int64(len(encode(d.cat.Find(name), vals))) }
	short, long := person("a", 1, "x"), person("a", 1, strings.Repeat("x", 1000))
	for _, step := range []struct {
		name string
		do   func(x *tx) error
		want table.Change
	}{
		{"insert", func(x *tx) error { return x.put("people", 1, short...) },
			table.Change{LiveBytes: size("people", short...), Written: 1, Rows: 1, Grew: true}},
		{"make longer", func(x *tx) error { return x.put("people", 1, long...) },
			table.Change{LiveBytes: size("people", long...) - size("people", short...), Written: 1, Grew: true}},
		{"make shorter", func(x *tx) error { return x.put("people", 1, short...) },
			table.Change{LiveBytes: size("people", short...) - size("people", long...), Written: 1}},
		{"leave", func(x *tx) error { return x.put("people", 1, short...) }, table.Change{Written: 1}},
		{"insert and delete", func(x *tx) error {
			return errors.Join(x.put("people", 2, person("b", 1, "")...), x.delete("people", 2))
		}, table.Change{Written: 2, Grew: true}},
		{"the server's own", func(x *tx) error { return x.put("_own", 1, value.Text("x")) },
			table.Change{LiveBytes: size("_own", value.Text("x")), Grew: true}},
		{"delete", func(x *tx) error { return x.delete("people", 1) },
			table.Change{LiveBytes: -size("people", short...), Written: 1, Rows: -1}},
		{"insert again", func(x *tx) error { return x.put("people", 5, long...) },
			table.Change{LiveBytes: size("people", long...), Written: 1, Rows: 1, Grew: true}},
		{"drop", func(x *tx) error { return x.drop("people") },
			table.Change{LiveBytes: -size("people", long...), Rows: -1}},
	} {
		d.must(t, func(x *tx) error {
			err := step.do(x)
			require.Equal(t, step.want, x.Change(), step.name)
			return err
		})
	}
	d = d.check(t)
	d.read(t, "_own", func(r *table.Reader) {
		f, err := r.Figures()
		require.NoError(t, err)
		sum := hashOf(1, encode(r.Collection(), []value.Value{value.Text("x")}))
		require.Equal(t, table.Figures{Rows: 1, LiveBytes: size("_own", value.Text("x")), Highest: 1, Sum: sum}, f)
	})
}

// A block that fails changes neither rows nor figures.
func TestRolledBackBlock(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return errors.Join(x.create(people), x.put("people", 1, person("a", 1, "")...)) })
	failed := errors.New("failed")
	require.ErrorIs(t, d.block(t, func(x *tx) error {
		return errors.Join(x.put("people", 7, person("b", 1, "")...), x.delete("people", 1), x.drop("people"), x.create(people), failed)
	}), failed)
	d.must(t, func(x *tx) error {
		id, err := x.Writer(x.cat.Find("people")).NextID()
		require.EqualValues(t, 2, id)
		return errors.Join(err, x.put("people", id, person("b", 1, "")...))
	})
	d = d.check(t)
	require.Len(t, d.rows(t, "people", 0, ^uint64(0), false), 2)
}

func TestDeleteOfNothing(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(people) })
	require.Error(t, d.block(t, func(x *tx) error { return x.delete("people", 1) }))
}

// What the log says makes the same database again, whatever was done, and so
// does the base once it is folded.
func TestReplayModel(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 21))
			d := newDB(t)
			m := map[string]map[uint64]string{}
			for range 150 {
				after := clone(m)
				err := d.block(t, func(x *tx) error {
					for range 1 + r.IntN(6) {
						if err := step(x, after, r); err != nil {
							return err
						}
					}
					return nil
				})
				if err == nil {
					m = after
				} else {
					require.ErrorIs(t, err, &fault.Error{Kind: fault.Duplicate})
				}
				switch r.IntN(20) {
				case 0:
					require.NoError(t, d.Checkpoint(ctx))
				case 1:
					d = d.check(t)
				}
			}
			d = d.check(t)
			for name, rows := range m {
				var want []string
				for _, id := range slices.Sorted(maps.Keys(rows)) {
					want = append(want, rows[id])
				}
				require.Equal(t, want, d.rows(t, name, 0, ^uint64(0), false), name)
			}
			require.Len(t, d.cat.Collections(), len(m))
		})
	}
}

func clone(m map[string]map[uint64]string) map[string]map[uint64]string {
	out := map[string]map[uint64]string{}
	for name, rows := range m {
		out[name] = maps.Clone(rows)
	}
	return out
}

// step makes a random change in x and in m.
func step(x *tx, m map[string]map[uint64]string, r *rand.Rand) error {
	name := fmt.Sprint("c", r.IntN(3))
	rows := m[name]
	switch n := r.IntN(40); {
	case rows == nil:
		m[name] = map[uint64]string{}
		return x.create(strings.Replace(people, "people", name, 1))
	case n == 0:
		delete(m, name)
		return x.drop(name)
	case n < 10 && len(rows) > 0:
		id := slices.Sorted(maps.Keys(rows))[r.IntN(len(rows))]
		delete(rows, id)
		return x.delete(name, id)
	}
	id := 1 + r.Uint64N(60)
	vals := person(fmt.Sprint("n", r.IntN(400)), r.IntN(10), strings.Repeat("t", r.IntN(200)))
	if r.IntN(5) == 0 {
		vals[r.IntN(3)] = value.Value{}
	}
	rows[id] = fmt.Sprint(id)
	for _, v := range append(vals, value.Value{}) {
		rows[id] += " " + v.String()
	}
	return x.put(name, id, vals...)
}

// A row whose bytes changed is reported, and not returned.
func TestDamagedRow(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return errors.Join(x.create(people), x.put("people", 1, person("a", 1, "")...)) })
	c := d.cat.Find("people")
	d.must(t, func(x *tx) error { return tamper(d, x, c.RowSpace, idKey(1), []byte("not a sealed row")) })
	d.read(t, "people", func(r *table.Reader) {
		_, err := r.Get(1)
		require.ErrorIs(t, err, row.ErrCorrupt)
		s := r.Scan(0, ^uint64(0), false)
		require.False(t, s.Next())
		require.ErrorIs(t, s.Err(), row.ErrCorrupt)
	})
	require.ErrorIs(t, d.block(t, func(x *tx) error { return x.delete("people", 1) }), row.ErrCorrupt)
}
