package fenec

import (
	"context"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// grows reports whether a statement is one that may take up memory for good.
func grows(tree ql.Statement) bool {
	switch tree.(type) {
	case *ql.Put, *ql.Set, *ql.CreateIndex:
		return true
	}
	return false
}

// held returns how much memory the database holds, as Stats does, and how much of
// it a checkpoint may free. It takes no lock that is held for long.
func (db *DB) held() (total, foldable int64) {
	foldable = db.store.FrontBytes() + db.history.Stats().MemoryBytes + db.feed.Stats().MemoryBytes
	return foldable + db.store.BaseMemory() + db.graphs.Held(), foldable
}

// MemoryBytes returns how much memory the database holds, as Stats.MemoryBytes does,
// and how much of it is held by what a checkpoint would fold. It costs next to nothing.
func (db *DB) MemoryBytes() (total, unfolded int64) { return db.held() }

// checkMemory returns why no growing statement may run.
func (db *DB) checkMemory() error {
	if db.maxMemory <= 0 {
		return nil
	}
	if total, _ := db.held(); total >= db.maxMemory {
		return fmt.Errorf("%w: %d bytes are held, and Options.MaxMemory is %d", ErrMemory, total, db.maxMemory)
	}
	return nil
}

// makeRoom folds what is written before a growing statement would be refused, if
// that may help. No block of the caller's is open.
func (db *DB) makeRoom(ctx context.Context) error {
	if db.maxMemory <= 0 {
		return nil
	}
	if total, foldable := db.held(); total < db.maxMemory || total-foldable >= db.maxMemory {
		return nil
	}
	return db.Checkpoint(ctx)
}
