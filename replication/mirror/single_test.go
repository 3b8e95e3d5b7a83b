package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// imageOf returns an image of a database with so many notes.
func imageOf(t testing.TB, path string, notes int) *fenec.Arrival {
	p := newPrimary(t)
	p.write(notes)
	var b bytes.Buffer
	p.use(func(db *fenec.DB) { require.NoError(t, db.Image(context.Background(), &b)) })
	a, err := fenec.ReceiveReplica(path, &b, p.history())
	require.NoError(t, err)
	return a
}

// replace has an arrival take the place of a database that nobody misses.
func replace(ctx context.Context, s *Single, a *fenec.Arrival) error {
	_, err := s.Replace(ctx, a, false)
	return err
}

func openSingle(t testing.TB, opts SingleOptions) *Single {
	s, err := OpenSingle(filepath.Join(t.TempDir(), "db.fenec"), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Who uses the database is told to let go, is waited for, and sees nothing of the new one;
// who comes meanwhile gets the new one.
func TestReplaceWaitsForUsers(t *testing.T) {
	var opened, closing int
	s := openSingle(t, SingleOptions{
		Opened:  func(*fenec.DB) error { opened++; return nil },
		Closing: func(*fenec.DB) { closing++ },
	})
	old, ended, release, err := s.Hold(context.Background())
	require.NoError(t, err)
	a := imageOf(t, s.Path(), 3)
	replaced := make(chan error)
	go func() { replaced <- replace(context.Background(), s, a) }()
	<-ended

	waiting, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer stop()
	_, _, err = s.Use(waiting)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, old.Collections())
	came := make(chan *fenec.DB)
	go func() {
		db, release, err := s.Use(context.Background())
		if err != nil {
			panic(err)
		}
		defer release()
		came <- db
	}()
	release()
	release()
	db := <-came
	require.NoError(t, <-replaced)
	require.Equal(t, []string{"notes"}, db.Collections())
	require.EqualValues(t, 4, db.LastWrite())
	require.True(t, db.History().Following)
	require.Equal(t, []int{2, 1}, []int{opened, closing})
}

// Who does not let go in time keeps the old database, which goes on.
func TestReplaceGivesUp(t *testing.T) {
	s := openSingle(t, SingleOptions{})
	db, _, release, err := s.Hold(context.Background())
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer stop()
	require.ErrorIs(t, replace(ctx, s, imageOf(t, s.Path(), 1)), context.DeadlineExceeded)
	again, ended, releaseAgain, err := s.Hold(context.Background())
	require.NoError(t, err)
	require.Same(t, db, again)
	select {
	case <-ended:
		require.Fail(t, "the second use is not to end")
	default:
	}
	release()
	releaseAgain()
	require.NoError(t, replace(context.Background(), s, imageOf(t, s.Path(), 1)))
}

// Where patience has an end, who does not let go finds the database closed, and is none of
// the users of the next.
func TestReplaceEndsUses(t *testing.T) {
	s := openSingle(t, SingleOptions{Patience: time.Millisecond})
	old, ended, release, err := s.Hold(context.Background())
	require.NoError(t, err)
	require.NoError(t, replace(context.Background(), s, imageOf(t, s.Path(), 2)))
	<-ended
	_, err = old.Query(context.Background(), "get notes")
	require.ErrorIs(t, err, fenec.ErrClosed)

	db, _, releaseNext, err := s.Hold(context.Background())
	require.NoError(t, err)
	release()
	require.Equal(t, []string{"notes"}, db.Collections())
	releaseNext()
	require.NoError(t, replace(context.Background(), s, imageOf(t, s.Path(), 1)))
}

// A database that could not be opened is opened by the next who wants it.
func TestOpenFailsOnce(t *testing.T) {
	failed := errors.New("failed")
	times := 0
	s := openSingle(t, SingleOptions{Opened: func(*fenec.DB) error {
		if times++; times == 2 {
			return failed
		}
		return nil
	}})
	require.ErrorIs(t, replace(context.Background(), s, imageOf(t, s.Path(), 2)), failed)
	db, release, err := s.Use(context.Background())
	require.NoError(t, err)
	defer release()
	require.EqualValues(t, 3, db.LastWrite())

	_, err = OpenSingle(filepath.Join(t.TempDir(), "db.fenec"), SingleOptions{Opened: func(*fenec.DB) error { return failed }})
	require.ErrorIs(t, err, failed)
}

func TestClosedSingle(t *testing.T) {
	s := openSingle(t, SingleOptions{})
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, _, err := s.Use(context.Background())
	require.ErrorIs(t, err, fenec.ErrClosed)
	require.ErrorIs(t, replace(context.Background(), s, imageOf(t, s.Path(), 1)), fenec.ErrClosed)
}

// What is to be kept has the other name, whole; the latest of them.
func TestReplaceKeeps(t *testing.T) {
	s := openSingle(t, SingleOptions{DB: fenec.Options{Sync: fenec.SyncAlways}})
	for round := range 2 {
		name := fmt.Sprintf("own%d", round)
		db, release, err := s.Use(context.Background())
		require.NoError(t, err)
		if round > 0 {
			_, err = db.Promote(context.Background(), true)
			require.NoError(t, err)
		}
		_, err = db.Exec(context.Background(), "create collection "+name+" (a int)")
		require.NoError(t, err)
		release()
		kept, err := s.Replace(context.Background(), imageOf(t, s.Path(), 1), true)
		require.NoError(t, err)
		require.Equal(t, s.Path()+Replaced, kept)
		old, err := fenec.Open(kept, fenec.Options{})
		require.NoError(t, err)
		require.Contains(t, old.Collections(), name)
		require.NoError(t, old.Close())
		require.NoError(t, fenec.Check(kept))
	}
	require.NoError(t, replace(context.Background(), s, imageOf(t, s.Path(), 2)))
	require.FileExists(t, s.Path()+Replaced, "that nothing is kept of one is no reason to lose another")
}

// What is to be kept and cannot be is not replaced.
func TestReplaceThatCannotKeep(t *testing.T) {
	s := openSingle(t, SingleOptions{})
	require.NoError(t, os.MkdirAll(filepath.Join(s.Path()+Replaced, "full"), 0o700))
	kept, err := s.Replace(context.Background(), imageOf(t, s.Path(), 2), true)
	require.Error(t, err)
	require.Empty(t, kept)
	db, release, err := s.Use(context.Background())
	require.NoError(t, err)
	defer release()
	require.Empty(t, db.Collections())
}
