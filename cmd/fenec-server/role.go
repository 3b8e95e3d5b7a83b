package main

import (
	"context"
	"fmt"
	"log"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// takePart makes the file what the flags say that it is, and begins to follow if it does.
func (f *replicated) takePart() error {
	follows := false
	err := f.use(func(db *fenec.DB) (err error) {
		if f.opts.primary != "" {
			follows, err = f.joins(db)
		} else {
			err = takesWrites(db, f.opts.promote, f.log)
		}
		if err == nil && !follows {
			_, err = db.BeginHistory(context.Background())
		}
		return err
	})
	if err == nil && follows {
		err = f.follow()
	}
	return err
}

// takesWrites sees to it that a database takes writes. One that follows is promoted, if that
// is asked for, whatever it may lack.
func takesWrites(db *fenec.DB, promote bool, errorLog *log.Logger) error {
	h := db.History()
	switch {
	case !h.Following:
		return nil
	case !promote:
		return fmt.Errorf("%s is a replica's file: --replica-of has it go on, --promote has it take writes of its own", db.Path())
	case h.Incomplete:
		errorLog.Printf("replication: %s is promoted though it had not caught up with its primary", db.Path())
	}
	_, err := db.Promote(context.Background(), true)
	return err
}

// joins makes the file follow the primary that the flags name, unless it was promoted
// in that one's place, and reports whether it follows.
func (f *replicated) joins(db *fenec.DB) (bool, error) {
	ctx, path, h := context.Background(), db.Path(), db.History()
	note := mirror.Promotion(path)
	from, err := note.From()
	switch {
	case err != nil:
		return false, err
	case h.Following:
		return true, note.Forget()
	case len(h.Lineage) == 0 && db.Seq() > 0:
		// Nobody ever had a copy: all it holds would be lost.
		return false, fmt.Errorf("%s holds what was never replicated: it does not follow another", path)
	case len(h.Lineage) > 0 && from == f.opts.primary:
		f.log.Printf("replication: %s was promoted in the place of %s and STAYS A PRIMARY: to have it follow there again, "+
			"and give up what that one does not have, remove %s", path, from, note.Path())
		return false, nil
	case len(h.Lineage) > 0:
		f.log.Printf("replication: %s was a primary's, of history %v, and follows %s from now on: what it has written up to number %d "+
			"and that one does not have is GIVEN UP", path, h.Lineage.Current(), f.opts.primary, db.LastWrite())
	}
	if err := db.Follow(ctx); err != nil {
		return false, err
	}
	return true, note.Forget()
}
