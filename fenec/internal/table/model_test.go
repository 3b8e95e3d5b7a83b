package table_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// model is what a collection has: its rows by id, each the values of its fields
// by name.
type model map[uint64]map[string]value.Value

func (m model) clone() model {
	out := model{}
	for id, r := range m {
		out[id] = maps.Clone(r)
	}
	return out
}

// modelTypes are what fields are added as, and the values they get.
var modelTypes = []struct {
	text string
	make func(r *rand.Rand) value.Value
}{
	{"int @sorted", func(r *rand.Rand) value.Value { return value.Int(r.Int64N(50)) }},
	{"int", func(r *rand.Rand) value.Value { return value.Int(r.Int64N(50)) }},
	{"text collate tr @sorted", func(r *rand.Rand) value.Value { return value.Text(word(r)) }},
	{"text @unique", func(r *rand.Rand) value.Value { return value.Text(word(r) + fmt.Sprint(r.IntN(2000))) }},
	{"[text] collate und @hash", func(r *rand.Rand) value.Value {
		return value.List([]value.Value{value.Text(word(r)), value.Text(word(r))})
	}},
	{"geo @geo", func(r *rand.Rand) value.Value { return value.Point(float64(r.IntN(360)-180), float64(r.IntN(90))) }},
	{"json", func(r *rand.Rand) value.Value {
		return object("k", object(string(rune('a'+r.IntN(2))), value.Int(r.Int64N(2000))))
	}},
	{"timestamp @sorted", func(r *rand.Rand) value.Value { return value.Timestamp(r.Int64N(50)) }},
	{"float", func(r *rand.Rand) value.Value { return value.Float(r.Float64()) }},
	{"text @text", words},
	{"text @text(prefix=4, chars)", words},
	{"sparse<12> @inverted", func(r *rand.Rand) value.Value {
		var entries []value.Entry
		for i := range uint32(12) {
			if r.IntN(3) == 0 {
				entries = append(entries, value.Entry{Index: i + 1, Weight: float32(1+r.IntN(3)) / 4})
			}
		}
		v, _ := value.Sparse(12, entries)
		return v
	}},
	{"vector<2> @hnsw", func(r *rand.Rand) value.Value { return value.Vector([]float32{float32(r.IntN(3)), 1}) }},
}

// words are texts of some terms that many have.
func words(r *rand.Rand) value.Value {
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString(word(r)[:1+r.IntN(3)%2] + " 東京 ")
	}
	return value.Text(b.String())
}

func word(r *rand.Rand) string {
	words := []string{"çam", "can", "iz", "ışık", "Oda", "ördek", "şal", "su", ""}
	return words[r.IntN(len(words))] + strings.Repeat("x", r.IntN(30))
}

// makerOf returns what makes values for a field.
func makerOf(f *catalog.Field) func(r *rand.Rand) value.Value {
	for i := range modelTypes {
		kind, _, _ := strings.Cut(modelTypes[i].text, " ")
		if kind == f.Type.String() {
			return modelTypes[i].make
		}
	}
	panic(f.Type.String())
}

// Whatever is done to a collection's definition and rows, every index agrees
// with the rows, and the log makes the same database again.
func TestAlterModel(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 22))
			d := newDB(t)
			d.must(t, func(x *tx) error { return x.create("create collection c (f0 int @sorted, f1 json, f2 text @unique)") })
			m, names := model{}, 3
			for range 120 {
				after := m.clone()
				err := d.block(t, func(x *tx) error {
					for range 1 + r.IntN(4) {
						names++
						if err := alterStep(x, after, r, names); err != nil {
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
				switch r.IntN(15) {
				case 0:
					require.NoError(t, d.Checkpoint(ctx))
				case 1:
					before, def := d.dump(t), d.cat.Find("c").Append(nil)
					d = d.check(t)
					require.Equal(t, def, d.cat.Find("c").Append(nil))
					require.Equal(t, before, d.dump(t))
				}
			}
			d = d.check(t)
			require.Equal(t, m.rows(d.cat.Find("c")), d.rows(t, "c", 0, ^uint64(0), false))
		})
	}
}

// rows returns what db.rows does.
func (m model) rows(c *catalog.Collection) (list []string) {
	for _, id := range slices.Sorted(maps.Keys(m)) {
		text := fmt.Sprint(id)
		for i := range c.Fields {
			if f := &c.Fields[i]; !f.Dropped() {
				text += " " + m[id][f.Name].String()
			}
		}
		list = append(list, text)
	}
	return list
}

// dump returns everything that is stored, by space.
func (d *db) dump(t *testing.T) map[uint32][]string {
	t.Helper()
	sn, err := d.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	all := map[uint32][]string{}
	for _, s := range append(d.cat.Find("c").Spaces(), table.Meta) {
		it := v.Iter(s, nil, nil)
		for it.First(); it.Valid(); it.Next() {
			all[s] = append(all[s], fmt.Sprintf("%x=%x", it.Key(), it.Value()))
		}
		require.NoError(t, it.Err())
	}
	return all
}

// alterStep makes a random change in x and in m. fresh is a number for new
// names.
func alterStep(x *tx, m model, r *rand.Rand, fresh int) error {
	c := x.cat.Find("c")
	if r.IntN(4) > 0 {
		return rowStep(x, c, m, r)
	}
	var live []int
	for i := range c.Fields {
		if !c.Fields[i].Dropped() {
			live = append(live, i)
		}
	}
	f := &c.Fields[live[r.IntN(len(live))]]
	switch r.IntN(6) {
	case 0:
		return x.change(fmt.Sprintf("alter collection c add f%d %s", fresh, modelTypes[r.IntN(len(modelTypes))].text))
	case 1:
		if len(live) < 4 {
			return nil
		}
		for _, row := range m {
			delete(row, f.Name)
		}
		return x.change("alter collection c drop " + f.Name)
	case 2:
		for _, row := range m {
			row[fmt.Sprint("f", fresh)] = row[f.Name]
			delete(row, f.Name)
		}
		return x.change(fmt.Sprintf("alter collection c rename %s to f%d", f.Name, fresh))
	case 3:
		if f.Index == nil || f.Type != value.TypeTimestamp || c.TTL() != nil && c.TTL() != f.Index {
			return nil
		}
		return x.change(fmt.Sprintf("alter collection c alter %s %s", f.Name, []string{"@ttl(10ms)", "@sorted"}[r.IntN(2)]))
	}
	path := f.Name
	if f.Type == value.TypeJSON {
		path += []string{"", ".k", ".k.a", ".k.b"}[r.IntN(4)]
	}
	kind := []string{"@hash", "@unique"}[r.IntN(2)]
	if f.Type == value.TypeGeo {
		kind = "@geo"
	}
	err := x.change(fmt.Sprintf("create index on c (%s) %s", path, kind))
	if fault.KindOf(err) == fault.Exists {
		return nil
	}
	return err
}

// rowStep puts or deletes a random row in x and in m.
func rowStep(x *tx, c *catalog.Collection, m model, r *rand.Rand) error {
	if len(m) > 0 && r.IntN(5) == 0 {
		id := slices.Sorted(maps.Keys(m))[r.IntN(len(m))]
		delete(m, id)
		return x.delete("c", id)
	}
	id := 1 + r.Uint64N(40)
	vals := make([]value.Value, len(c.Fields))
	m[id] = map[string]value.Value{}
	for i := range c.Fields {
		if f := &c.Fields[i]; !f.Dropped() && r.IntN(4) > 0 {
			vals[i] = makerOf(f)(r)
			m[id][f.Name] = vals[i]
		}
	}
	return x.put("c", id, vals...)
}
