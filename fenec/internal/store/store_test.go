package store_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

func TestBlocksSurviveReopening(t *testing.T) {
	for _, policy := range []store.Sync{store.SyncEvery, store.SyncAlways, store.SyncOff} {
		for _, keepLog := range []bool{false, true} {
			t.Run(fmt.Sprintf("policy=%d/keepLog=%v", policy, keepLog), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "db")
				opts := store.Options{Sync: policy, NoCheckpoint: keepLog}
				for round := range 3 {
					s := open(t, path, opts)
					for i := range 10 {
						ticket := write(t, s, op{1, fmt.Sprint("k", i), []byte(fmt.Sprint("v", round))}, op{2, "n", []byte{byte(i)}})
						require.Equal(t, ticket.From+1, ticket.To)
					}
					require.NoError(t, s.Close())
				}
				s := open(t, path, opts)
				require.EqualValues(t, 60, s.Seq())
				require.Equal(t, "v2", string(get(t, s, 1, "k9")))
				require.Nil(t, get(t, s, 1, "k10"))
			})
		}
	}
}

// model is what a store should hold.
type model map[uint32]map[string][]byte

func (m model) apply(o op) {
	if m[o.space] == nil {
		m[o.space] = map[string][]byte{}
	}
	if o.val == nil {
		delete(m[o.space], o.key)
	} else {
		m[o.space][o.key] = o.val
	}
}

func (m model) clone() model {
	out := model{}
	for s, kv := range m {
		out[s] = map[string][]byte{}
		for k, v := range kv {
			out[s][k] = v
		}
	}
	return out
}

// requireSame compares a snapshot with the model, by Get and by walking both
// ways over a part of the range.
func requireSame(t *testing.T, sn *store.Snapshot, m model, r *rand.Rand) {
	t.Helper()
	v := sn.View()
	defer v.Release()
	for space, kv := range m {
		keys := make([]string, 0, len(kv))
		for k := range kv {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		lo, hi := fmt.Sprintf("%03d", r.IntN(60)), fmt.Sprintf("%03d", 40+r.IntN(80))
		var want []string
		for _, k := range keys {
			if k >= lo && k < hi {
				want = append(want, k+"="+string(kv[k]))
			}
		}
		var got, back []string
		n, err := v.Count(space, []byte(lo), []byte(hi))
		require.NoError(t, err)
		require.EqualValues(t, len(want), n)
		it := v.Iter(space, []byte(lo), []byte(hi))
		for it.First(); it.Valid(); it.Next() {
			got = append(got, string(it.Key())+"="+string(it.Value()))
		}
		require.NoError(t, it.Err())
		for it.Last(); it.Valid(); it.Prev() {
			back = append([]string{string(it.Key()) + "=" + string(it.Value())}, back...)
		}
		require.NoError(t, it.Err())
		require.Equal(t, want, got)
		require.Equal(t, want, back)
		for _, k := range keys {
			val, err := v.Get(space, []byte(k))
			require.NoError(t, err)
			require.Equal(t, string(kv[k]), string(val))
		}
		for range 20 {
			k := fmt.Sprintf("%03d", r.IntN(120))
			val, err := v.Get(space, []byte(k))
			require.NoError(t, err)
			require.Equal(t, kv[k] != nil, val != nil)
			require.Equal(t, string(kv[k]), string(val))
		}
	}
}

func TestModel(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			path := ""
			if seed%4 != 0 {
				path = filepath.Join(t.TempDir(), "db")
			}
			opts := store.Options{Sync: store.Sync(seed % 3), NoCheckpoint: seed%2 == 0}
			mostViews := 3
			if seed >= 4 {
				// Fronts so small that folds never rest; held views would be ended.
				opts.FrontBytes, mostViews = 16<<10, 0
			}
			s := open(t, path, opts)
			m := model{}
			type held struct {
				sn *store.Snapshot
				m  model
			}
			var views []held
			for range 500 {
				switch n := r.IntN(100); {
				case n < 70:
					ops := make([]op, 1+r.IntN(4))
					for i := range ops {
						ops[i] = op{1 + uint32(r.IntN(3)), fmt.Sprintf("%03d", r.IntN(120)), []byte(fmt.Sprint(r.IntN(1e6)))}
						if r.IntN(4) == 0 {
							ops[i].val = nil
						}
						m.apply(ops[i])
					}
					write(t, s, ops...)
				case n < 78:
					require.NoError(t, s.Checkpoint(ctx))
				case n < 80:
					require.NoError(t, s.Compact(ctx))
				case n < 88 && len(views) < mostViews:
					sn, err := s.Snapshot()
					require.NoError(t, err)
					views = append(views, held{sn, m.clone()})
				case n < 94 && len(views) > 0:
					h := views[0]
					views = views[1:]
					requireSame(t, h.sn, h.m, r)
					h.sn.Close()
				case n < 96 && path != "":
					for _, h := range views {
						h.sn.Close()
					}
					views = nil
					require.NoError(t, s.Close())
					s = open(t, path, opts)
				default:
					sn, err := s.Snapshot()
					require.NoError(t, err)
					requireSame(t, sn, m, r)
					sn.Close()
				}
			}
			for _, h := range views {
				h.sn.Close()
			}
		})
	}
}
