package store

import (
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// Check verifies the closed store at path: the base's pages, both logs, and
// then, through verify, what its owner knows of the contents, base and logs
// merged. It changes nothing. opts needs Load and Replay only.
func Check(path string, opts Options, verify func(v *View) error) error {
	opts.readOnly, opts.MustExist = true, true
	s, err := Open(path, opts)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if err := errors.Join(s.verifyBase(), s.verifyContents(verify), s.Close()); err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	return nil
}

func (s *Store) verifyContents(verify func(v *View) error) (err error) {
	r, err := s.Read()
	if err != nil {
		return err
	}
	defer r.End()
	defer base.Recover(s.path, base.Guard(), &err)
	return verify(&r.View)
}

func (s *Store) verifyBase() error {
	tx, err := s.base.Acquire()
	if err != nil {
		return err
	}
	defer tx.Release()
	return errors.Join(s.base.DamagedMeta(), tx.Verify())
}

// Spaces returns the numbers of the spaces the base has.
func (s *Store) Spaces() ([]uint32, error) {
	tx, err := s.base.Acquire()
	if err != nil {
		return nil, err
	}
	defer tx.Release()
	return tx.Spaces()
}
