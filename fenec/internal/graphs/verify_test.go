package graphs_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// pieces are what is stored of a graph, by key, without the checksums.
type pieces map[string][]byte

func piecesOf(t *testing.T, d *db) pieces {
	t.Helper()
	p := pieces{}
	keys, values := stored(t, d)
	for i, k := range keys {
		p[k] = values[i]
		if k != string(table.LinkedKey) {
			b, err := row.Open(values[i])
			require.NoError(t, err)
			p[k] = b
		}
	}
	return p
}

const (
	headerKey = "\x01"
	codesKey  = "\x02"
)

func chunkKey(n byte) string { return string([]byte{3, 0, 0, 0, n}) }

// nodes returns where the nodes of a chunk of free nodes and nodes of the graph
// begin.
func nodes(chunk []byte) (at []int) {
	for i := 2; i < len(chunk); {
		at = append(at, i)
		state := chunk[i]
		if i++; state == 0 {
			continue
		}
		i += 8
		for range int(state&15) + 1 {
			i += 2 + int(binary.LittleEndian.Uint16(chunk[i:]))*int(chunk[1])
		}
	}
	return at
}

// isHigh reports whether the node that begins at a place has a neighbour above
// level 0.
func isHigh(chunk []byte, at int) bool {
	return chunk[at]&15 > 0 && binary.LittleEndian.Uint16(chunk[above(chunk, at):]) > 0
}

// above returns where the list on level 1 begins of the node that begins at a
// place.
func above(chunk []byte, at int) int {
	return at + 9 + 2 + int(binary.LittleEndian.Uint16(chunk[at+9:]))*int(chunk[1])
}

// grove returns a closed database whose graph is stored, without
// twins, and what is stored of it.
func grove(t *testing.T) (d *db, p pieces) {
	d = newDB(t)
	d.put(t, some(rand.New(rand.NewPCG(9, 72)), 1, 300))
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d.put(t, map[uint64][]float32{1000: nil})
	require.NoError(t, d.Checkpoint(ctx))
	p = piecesOf(t, d)
	d.close(t)
	return d, p
}

// damaged returns the path of a copy of d's file with changes.
func damaged(t *testing.T, d *db, changes []base.Change) string {
	t.Helper()
	b, err := os.ReadFile(d.path)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "db")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	f, err := base.Open(path)
	require.NoError(t, err)
	fold(t, f, changes)
	require.NoError(t, f.Close())
	return path
}

// Verify finds whatever does not agree with the rest, under checksums that are
// right.
func TestVerify(t *testing.T) {
	d, p := grove(t)
	first := p[chunkKey(0)]
	at := nodes(first)
	require.Len(t, at, 16)
	change := func(key string, val []byte) []base.Change {
		c := base.Change{Space: d.index().GraphSpace(), Key: []byte(key), Value: val}
		if val == nil {
			c.Op = base.OpDelete
		}
		return []base.Change{c}
	}
	edited := func(key string, edit func(b []byte)) []base.Change {
		b := slices.Clone(p[key])
		edit(b)
		return change(key, row.Seal(b))
	}
	inFirst := func(at int, val ...byte) []base.Change {
		return edited(chunkKey(0), func(b []byte) { copy(b[at:], val) })
	}
	high := at[slices.IndexFunc(at, func(i int) bool { return isHigh(first, i) })]
	low := byte(slices.IndexFunc(at, func(i int) bool { return first[i]&15 == 0 }))
	crowded := slices.Insert(slices.Clone(first), at[0]+11, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0)
	crowded[at[0]+9] += 8
	types := []value.Type{value.VectorType(dim, false), value.TypeInt}

	for name, c := range map[string]struct {
		changes []base.Change
		want    string
	}{
		"nothing":          {nil, ""},
		"no header":        {change(headerKey, nil), "without a header"},
		"another version":  {edited(headerKey, func(b []byte) { b[0]++ }), "a header of 27 bytes for another graph"},
		"another metric":   {edited(headerKey, func(b []byte) { b[1]++ }), "a header of 27 bytes for another graph"},
		"a header cut":     {change(headerKey, row.Seal(p[headerKey][:26])), "a header of 26 bytes"},
		"too many nodes":   {edited(headerKey, func(b []byte) { b[12]++ }), "19 chunks of 556 nodes"},
		"too few nodes":    {edited(headerKey, func(b []byte) { b[11]-- }), "node 299 of 299"},
		"a list too many":  {edited(headerKey, func(b []byte) { b[15]-- }), "lists above the lowest level"},
		"no entry":         {edited(headerKey, func(b []byte) { copy(b[19:], "\xff\xff\xff\xff\xff\xff\xff\xff") }), "no entry"},
		"entry beyond":     {edited(headerKey, func(b []byte) { b[20] = 9 }), "at the entry"},
		"entry too high":   {edited(headerKey, func(b []byte) { b[23]++ }), "at the entry"},
		"codes":            {change(codesKey, row.Seal([]byte("\x03\x00\x00\x00"))), "codes of 4 bytes for another graph"},
		"a chunk lost":     {change(chunkKey(7), nil), "key 0300000008 among the chunks"},
		"the last lost":    {change(chunkKey(18), nil), "18 chunks of 300 nodes"},
		"a chunk too many": {change(chunkKey(19), row.Seal(first)), "node 304 of 300"},
		"another key":      {change("\x09", row.Seal(nil)), "key 09 among the chunks"},
		"a chunk cut":      {change(chunkKey(3), row.Seal(p[chunkKey(3)][:100])), "chunk 3 cannot be read"},
		"a chunk too long": {change(chunkKey(3), row.Seal(append(slices.Clone(p[chunkKey(3)]), 0))), "chunk 3 cannot be read"},
		"no width":         {inFirst(1, 0), "chunk 0 cannot be read"},
		"a state unknown":  {inFirst(at[0], first[at[0]]|64), "chunk 0 cannot be read"},
		"a state unused":   {inFirst(at[0], first[at[0]]&^16), "chunk 0 cannot be read"},
		"too many links":   {change(chunkKey(0), row.Seal(crowded)), "neighbours on level 0"},
		"a link beyond":    {inFirst(at[0]+11, 0xff, 0xff), "node 0 has the neighbour 65535 on level 0, where that is not"},
		"a link to itself": {inFirst(at[5]+11, 5, 0), "node 5 has the neighbour 5 on level 0, where that is not"},
		"a link too high":  {inFirst(above(first, high)+2, low, 0), "on level 1, where that is not"},
		"an id twice":      {inFirst(at[1]+1, first[at[0]+1:at[0]+9]...), "has two nodes"},
		"an id of no row":  {inFirst(at[1]+1, 0xff, 0xff), "id 65535 has no row"},
		"an id without":    {inFirst(at[1]+1, 0xe8, 0x03), "id 1000 has no vector"},
		"a node dead":      {inFirst(at[1], first[at[1]]|32), "is missing"},
		"a row lost":       {[]base.Change{{Op: base.OpDelete, Space: d.c().RowSpace, Key: binary.BigEndian.AppendUint64(nil, 9)}}, "id 9 has no row"},
		"a row more": {[]base.Change{{Space: d.c().RowSpace, Key: binary.BigEndian.AppendUint64(nil, 999),
			Value: row.Seal(row.Encode(nil, types, []value.Value{value.Vector([]float32{1, 2, 3}), value.Int(1)}))}}, "id 999 is missing"},
		"linked cut":  {change("\x00", []byte{1}), "a pending vector of 1 bytes"},
		"pending cut": {[]base.Change{{Space: d.index().Space, Key: []byte{1}}}, "a pending vector of 1 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := verify(damaged(t, d, c.changes))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, `collection "c": the graph of "v"`)
			require.ErrorIs(t, err, hnsw.ErrCorrupt)
		})
	}
}

// Any byte that is another is found, wherever it is.
func TestVerifyFindsBytes(t *testing.T) {
	d, p := grove(t)
	delete(p, string(table.LinkedKey))
	r := rand.New(rand.NewPCG(10, 72))
	for k, b := range p {
		sealed := row.Seal(slices.Clone(b))
		sealed[r.IntN(len(sealed))] ^= 1 << r.IntN(8)
		err := verify(damaged(t, d, []base.Change{{Space: d.index().GraphSpace(), Key: []byte(k), Value: sealed}}))
		require.ErrorIs(t, err, row.ErrCorrupt, "%x", k)
	}
}

// A change that cannot be linked is told of until it can.
func TestFailure(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 72))
	d := newDB(t)
	d.graph(t)
	rows := some(r, 1, 20)
	d.put(t, rows)
	require.NoError(t, d.set.Failure())
	var whole []byte
	d.view(t, func(r *table.Reader) {
		b, err := r.Get(7)
		require.NoError(t, err)
		whole = row.Seal(slices.Clone(b))
	})
	tamper := func(val []byte) {
		d.put(t, map[uint64][]float32{100: nil}) // what follows takes no number of its own
		b, err := d.Begin(ctx, nil)
		require.NoError(t, err)
		require.NoError(t, b.Put(d.c().RowSpace, binary.BigEndian.AppendUint64(nil, 7), val))
		_, err = b.Commit(func(uint64) {})
		require.NoError(t, err)
		require.NoError(t, d.Checkpoint(ctx))
	}
	tamper([]byte("rubbish"))
	failed := func() bool { return d.set.Failure() != nil }
	require.Eventually(t, failed, time.Minute, time.Millisecond)
	require.ErrorIs(t, d.set.Failure(), row.ErrCorrupt)
	require.ErrorContains(t, d.set.Failure(), `link vectors of "v" in collection "c": id 7`)
	require.Zero(t, d.graph(t).Len())

	d.set.Close()
	require.NoError(t, d.Store.Close())
	require.ErrorIs(t, check(d.path, table.Verify), row.ErrCorrupt)
	require.ErrorIs(t, verify(d.path), row.ErrCorrupt)

	d = open(t, d.path, store.Options{})
	g := d.graph(t)
	require.Eventually(t, failed, time.Minute, time.Millisecond)
	tamper(whole)
	require.Eventually(t, func() bool { return !failed() && g.Len() == len(rows) }, time.Minute, time.Millisecond)
	d.close(t)
}
