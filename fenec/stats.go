package fenec

import (
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// Stats are the figures of a database. All are exact, and reading them scans
// nothing.
type Stats struct {
	Collections []CollectionStats // by name
	LiveBytes   int64             // of the rows as they stand, all collections together
	DiskBytes   int64             // of the file and its logs, space allocated ahead included
	FreeBytes   int64             // of the file's free pages, which Compact gives back
	MemoryBytes int64             // held by writes that are not folded yet, their part of the history and graphs of vectors included
	Seq         uint64            // of the last write
	SyncedSeq   uint64            // up to which everything is on disk
	FoldedSeq   uint64            // up to which everything is in the file
	Horizon     uint64            // the smallest cursor that the kept changes go on from
	Compactions uint64            // since the database was opened
	Failure     error             // why writes are refused, or nil

	HistoryEntries uint64 // changes that are kept
	HistoryBytes   int64  // they take up, in the file and in memory
}

// CollectionStats are the figures of one collection.
type CollectionStats struct {
	Name      string
	Rows      int64
	LiveBytes int64 // of its rows as they stand
}

// Stats returns the figures of the moment.
func (db *DB) Stats() (Stats, error) {
	st, kept := db.store.Stats(), db.history.Stats()
	out := Stats{
		DiskBytes:   st.BaseBytes + st.LogBytes,
		FreeBytes:   st.FreeBytes,
		MemoryBytes: st.FrontBytes + kept.MemoryBytes + db.graphs.Bytes(),
		Seq:         st.Seq,
		SyncedSeq:   st.SyncedSeq,
		FoldedSeq:   st.FoldedSeq,
		Horizon:     kept.Horizon,
		Compactions: st.Compactions,
		Failure:     st.Failure,

		HistoryEntries: kept.Entries,
		HistoryBytes:   kept.Bytes,
	}
	sn, err := db.own.snapshot()
	if err != nil {
		return out, err
	}
	defer sn.close()
	v := sn.snap.View()
	defer v.Release()
	for _, c := range sn.catalog.Collections() {
		f, err := table.NewReader(v, c).Figures()
		if err != nil {
			return out, public(err)
		}
		out.LiveBytes += f.LiveBytes
		out.Collections = append(out.Collections, CollectionStats{c.Name, f.Rows, f.LiveBytes})
	}
	slices.SortFunc(out.Collections, func(a, b CollectionStats) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
