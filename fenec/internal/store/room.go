package store

import (
	"errors"
	"io/fs"
	"syscall"
)

// outOfRoom reports whether err is that the disk, or the process's table of files, is
// full, of a call that has changed nothing then: the same may succeed later. A flush that
// says so is none of these, since nobody knows what is on disk after it.
func outOfRoom(err error) bool {
	path := new(fs.PathError)
	return errors.As(err, &path) && path.Op != "sync" && path.Op != "fdatasync" &&
		(errors.Is(path.Err, syscall.ENOSPC) || errors.Is(path.Err, syscall.EDQUOT) ||
			errors.Is(path.Err, syscall.EMFILE) || errors.Is(path.Err, syscall.ENFILE))
}

// unfolded notes that a fold has failed. Without room nothing is lost by that: what was
// to be folded is in memory and in the log, and the next fold may succeed. Any other
// failure ends all writing.
func (s *Store) unfolded(err error) error {
	if !outOfRoom(err) {
		return s.fail(err)
	}
	s.background.noRoom.Store(&err)
	return err
}

// lacksRoom returns why the last fold failed, if it was for want of room.
func (s *Store) lacksRoom() error {
	if p := s.background.noRoom.Load(); p != nil {
		return *p
	}
	return nil
}
