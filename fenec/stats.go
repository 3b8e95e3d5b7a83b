package fenec

import (
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// Stats are the figures of a database. All are exact, and reading them scans no
// more than the vectors that were written since the last checkpoint.
type Stats struct {
	Collections []CollectionStats // by name
	LiveBytes   int64             // of the rows as they stand, all collections together
	DiskBytes   int64             // of the file and its logs, space allocated ahead included
	FreeBytes   int64             // of the file's free pages, which Compact gives back
	MemoryBytes int64             // held by writes that are not folded yet, their part of the history and of the feed, by graphs of vectors, and by a file in memory
	Seq         uint64            // of the last write
	SyncedSeq   uint64            // up to which everything is on disk
	FoldedSeq   uint64            // up to which everything is in the file
	Horizon     uint64            // the smallest cursor that the kept changes go on from
	Compactions uint64            // since the database was opened, those by themselves included
	Failure     error             // why writes are refused, or nil
	LinkFailure error             // why graphs did not take up vectors that changed, when last tried, or nil

	AutoCompactions uint64 // compactions that nobody asked for, see Options.CompactRatio

	// UnlinkedVectors is how many changes of vectors wait to be linked into the
	// graphs of their indexes. Until then searches measure them one by one.
	UnlinkedVectors int64

	HistoryEntries uint64 // changes that are kept
	HistoryBytes   int64  // they take up, in the file and in memory
	FeedBytes      int64  // what is kept for Feed takes up, in the file and in memory
}

// CollectionStats are the figures of one collection.
type CollectionStats struct {
	Name      string
	Rows      int64
	LiveBytes int64 // of its rows as they stand
}

// Stats returns the figures of the moment.
func (db *DB) Stats() (Stats, error) {
	st, kept, fed := db.store.Stats(), db.history.Stats(), db.feed.Stats()
	out := Stats{
		DiskBytes:   st.BaseBytes + st.LogBytes,
		FreeBytes:   st.FreeBytes,
		MemoryBytes: st.FrontBytes + db.store.BaseMemory() + kept.MemoryBytes + fed.MemoryBytes + db.graphs.Bytes(),
		Seq:         st.Seq,
		SyncedSeq:   st.SyncedSeq,
		FoldedSeq:   st.FoldedSeq,
		Horizon:     kept.Horizon,
		Compactions: st.Compactions,
		Failure:     st.Failure,
		LinkFailure: public(db.graphs.Failure()),

		AutoCompactions: st.AutoCompactions,

		HistoryEntries: kept.Entries,
		HistoryBytes:   kept.Bytes,
		FeedBytes:      fed.Bytes,
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
		unlinked, err := db.unlinked(v, c)
		if err != nil {
			return out, public(err)
		}
		out.UnlinkedVectors += unlinked
		out.LiveBytes += f.LiveBytes
		out.Collections = append(out.Collections, CollectionStats{c.Name, f.Rows, f.LiveBytes})
	}
	slices.SortFunc(out.Collections, func(a, b CollectionStats) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
