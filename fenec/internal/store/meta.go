package store

import (
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// A crash in the midst of a fold may leave the meta page damaged that the fold was
// writing. The base is then what it was before, and nothing is lost: while anything is
// folded into a base that has its name, a log lies beside it, on disk, that goes on at
// the base's sequence or before. Without such a log the page has been damaged later, and
// the base may lack a fold whose log is gone.

// checkMeta refuses a base with a damaged meta page that no crash can have left.
func (s *Store) checkMeta() error {
	if s.path == "" {
		return nil
	}
	damage := s.base.DamagedMeta()
	if damage == nil {
		return nil
	}
	for _, name := range []string{OldLogPath(s.path), LogPath(s.path)} {
		h, err := wal.ReadHeader(name, s.walOptions())
		if err == nil && h.Base == s.base.ID() && h.After <= s.base.Folded() {
			return nil
		}
	}
	return fmt.Errorf("%w, and no log goes on after %d, where the other one ends", damage, s.base.Folded())
}

// mendMeta writes a damaged meta page anew while the log is there that stands in for it.
func (r *recovery) mendMeta() error {
	if r.s.base.DamagedMeta() == nil {
		return nil
	}
	r.s.opts.Step("open: mend meta")
	return r.foldIfRoom()
}

// layLog makes sure that a log lies beside the base. It reserves nothing: without a block
// in it the store comes back at the sequence where it is. The folding lock is held.
func (s *Store) layLog() error {
	if s.path == "" {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.log.Load() != nil {
		return nil
	}
	s.opts.Step("lay log")
	log, err := s.createLog(s.Seq(), s.Seq(), false)
	if err != nil {
		return s.unfolded(err)
	}
	s.log.Store(log)
	s.limit = log.Reserved()
	return nil
}
