package router

import (
	"github.com/fenec-go/fenecdb/replication"
)

// A directory that was taken over may lack the last changes of the one whose place it
// takes, and nodes may go on for a while under leases that the other has granted. Its
// file keeps which history's leases are known to be the only ones: after a promotion it
// still names an earlier history, whatever ends the router then and however often.

// lineage returns the histories that the directory's changes belong to.
func (d *Directory) lineage() replication.Lineage { return d.store.lineage() }

// isBehind reports whether nodes may hold leases that another directory has granted,
// whose place this one took.
func (d *Directory) isBehind() bool {
	l := d.lineage()
	return len(l) > 1 && d.onlyLeases() != l.Current().String()
}

// onlyLeases returns the history whose leases are known to be the only ones, "" if that
// was never so. One that cannot be read is none.
func (d *Directory) onlyLeases() string {
	history, err := d.store.settled()
	if err != nil {
		return ""
	}
	return history
}

// settleLineage records that nodes hold no leases but those of this directory.
func (d *Directory) settleLineage() error {
	history := d.lineage().Current().String()
	return d.write(func() error { return nil }, func(r rows) error { return r.putSettled(history) }, func() {})
}

func (s *fileStore) settled() (string, error) {
	found, err := collect[struct{ History string }](s.db, "get history from settled", "", "")
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].History, nil
}

// putSettled keeps the one row of its collection.
func (r rows) putSettled(history string) error {
	if _, err := r.exec("del settled"); err != nil {
		return err
	}
	_, err := r.exec("put settled {history: $1}", history)
	return err
}
