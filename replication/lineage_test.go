package replication

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContinued(t *testing.T) {
	two := Lineage{{7, 10}, {9, 20}}
	early := Lineage{{7, 10}, {9, 20}, {11, 15}} // promoted before it had 9's place
	for _, c := range []struct {
		lineage  Lineage
		id       ID
		seq, now uint64
		want     bool
	}{
		{two, 0, 0, 30, true},
		{two, 0, 5, 30, false},
		{two, 7, 20, 30, true},
		{two, 7, 21, 30, false},
		{two, 9, 30, 30, true},
		{two, 9, 31, 30, false},
		{two, 8, 1, 30, false},
		{two, 7, 3, 30, true},
		{nil, 0, 0, 0, true},
		{nil, 0, 1, 30, false},
		{nil, 7, 0, 30, false},
		{early, 7, 15, 30, true},
		{early, 7, 18, 30, false},
		{early, 9, 15, 30, true},
		{early, 9, 16, 30, false},
		{early, 11, 30, 30, true},
	} {
		got := c.lineage.Continued(c.id, c.seq, c.now)
		require.Equal(t, c.want, got, "%v, replica at (%d, %d), now %d", c.lineage, c.id, c.seq, c.now)
	}
}

func TestForkDrawsFreshIDs(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var l Lineage
	seen := map[ID]bool{0: true}
	for seq := range uint64(1000) {
		var err error
		l, err = l.Fork(random, seq)
		require.NoError(t, err)
		require.False(t, seen[l.Current()], "%s again", l.Current())
		seen[l.Current()] = true
		require.Equal(t, Entry{l.Current(), seq}, l[seq])
	}
}

func TestForkPassesOverUsedIDs(t *testing.T) {
	var drawn []byte
	for _, id := range []uint64{0, 7, 0, 9} {
		drawn = binary.LittleEndian.AppendUint64(drawn, id)
	}
	l := append(make(Lineage, 0, 4), Entry{7, 3})
	forked, err := l.Fork(bytes.NewReader(drawn), 5)
	require.NoError(t, err)
	require.Equal(t, Lineage{{7, 3}, {9, 5}}, forked)
	require.Equal(t, Entry{}, l[:2][1], "the old lineage's array was written to")

	_, err = l.Fork(bytes.NewReader(drawn[:20]), 5)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestIDText(t *testing.T) {
	require.Equal(t, "000000000000002a", ID(42).String())
	id, err := ParseID("5f0e2c9a81b44d17")
	require.NoError(t, err)
	require.Equal(t, ID(0x5f0e2c9a81b44d17), id)
	for _, text := range []string{"", "2a", "000000000000002g", "0000000000000002a", "+00000000000002a"} {
		_, err := ParseID(text)
		require.ErrorIs(t, err, ErrCorrupt, "%q", text)
	}
}

// modelDB is a database as slow as it is obvious: it keeps every write, named for
// the history that made it.
type modelDB struct {
	lineage   Lineage
	writes    []string
	following bool
}

func (db *modelDB) now() uint64 { return uint64(len(db.writes)) }

func (db *modelDB) write() {
	db.writes = append(db.writes, fmt.Sprintf("%s/%d", db.lineage.Current(), db.now()+1))
}

// follow makes db a replica that takes over the lineage at once and then gets some
// of the writes, or an image when it is not continued.
func (db *modelDB) follow(primary *modelDB, rnd *rand.Rand) {
	if !primary.lineage.Continued(db.lineage.Current(), db.now(), primary.now()) {
		db.writes = slices.Clone(primary.writes)
	}
	db.lineage, db.following = primary.lineage, true
	upTo := len(db.writes) + rnd.Intn(len(primary.writes)-len(db.writes)+1)
	db.writes = slices.Clone(primary.writes[:upTo])
}

// Databases write, follow one another and are promoted at random. One is continued
// by another exactly if the other has its history and its writes are a prefix.
func TestContinuedIsPrefix(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	yes, no := 0, 0
	for range 400 {
		dbs := make([]*modelDB, 3)
		for i := range dbs {
			dbs[i] = &modelDB{}
		}
		for range 40 {
			a, b := dbs[rnd.Intn(len(dbs))], dbs[rnd.Intn(len(dbs))]
			switch action := rnd.Intn(4); {
			case action == 0:
				l, err := a.lineage.Fork(rnd, a.now())
				require.NoError(t, err)
				a.lineage, a.following = l, false
				a.write()
			case action == 1 && a != b:
				a.follow(b, rnd)
			case !a.following && a.lineage != nil: // the root's writes prove nothing
				a.write()
			}
			if a.checkContinued(t, b) {
				yes++
			} else {
				no++
			}
		}
	}
	require.Greater(t, yes, 1000)
	require.Greater(t, no, 1000)
}

func (db *modelDB) checkContinued(t *testing.T, primary *modelDB) bool {
	id, seq := db.lineage.Current(), db.now()
	got := primary.lineage.Continued(id, seq, primary.now())
	prefix := seq <= primary.now() && slices.Equal(db.writes, primary.writes[:seq])
	known := id == 0 && seq == 0 || primary.lineage.index(id) >= 0
	require.Equal(t, prefix && known, got, "%v at %d, of %v at %d", db.lineage, seq, primary.lineage, primary.now())
	return got
}
