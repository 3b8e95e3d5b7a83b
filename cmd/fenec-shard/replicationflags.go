package main

import (
	"errors"
	"os"

	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/router"
)

// bindReplication declares the flags of routers that follow one another.
func (c *config) bindReplication(fs flags) {
	o := &c.options
	fs.Func("replication-token", "", func(s string) error {
		o.ReplicationToken = router.NewToken(s)
		return nil
	})
	fs.Func("replica-of", "", func(s string) (err error) {
		c.file.Follow, err = mirror.ParsePrimary(s)
		return err
	})
	fs.BoolVar(&c.file.Promote, "promote", false, "")
	fs.number("replication-buffer", defaultBuffer, 1, maxMiB, func(n int) { c.file.Feed = int64(n) << 20 })
}

// defaultBuffer is how many MiB of changes are kept for routers that follow.
const defaultBuffer = 8

// checkReplication completes what the flags say of replication, or refuses it.
func (c *config) checkReplication() error {
	o := &c.options
	if o.ReplicationToken.IsZero() {
		o.ReplicationToken = router.NewToken(os.Getenv("FENEC_REPLICATION_TOKEN"))
	}
	switch {
	case c.file.Follow != "" && c.file.Promote:
		return errors.New("--replica-of and --promote exclude each other")
	case c.file.Follow != "" && o.ReplicationToken.IsZero():
		return errors.New("--replica-of needs --replication-token")
	case o.ReplicationToken.IsZero():
		c.file.Feed = 0 // nobody could ask for it
	}
	return nil
}

// unlessMisled makes an error of usage of a directory's file that cannot be what the flags
// want it to be.
func unlessMisled(err error) error {
	if errors.Is(err, router.ErrFollows) || errors.Is(err, router.ErrNeverReplicated) {
		return &process.UsageError{Err: err}
	}
	return err
}
