package tenant_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// arrival is an image with one row of notes, which arrives beside a copy's database.
func arrival(t *testing.T, c raw.Copy, a int) *fenec.Arrival {
	t.Helper()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(t.Context(), "create collection notes (a int)")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "put notes {a: $1}", a)
	require.NoError(t, err)
	h, err := db.BeginHistory(t.Context())
	require.NoError(t, err)
	var image bytes.Buffer
	require.NoError(t, db.Image(t.Context(), &image))
	arrived, err := fenec.ReceiveReplica(c.Path(), &image, h)
	require.NoError(t, err)
	return arrived
}

// notes returns the a of a tenant's only note.
func notes(t *testing.T, h *tenant.Handle) (a int64) {
	t.Helper()
	res, err := h.Query(t.Context(), "get notes select a")
	require.NoError(t, err)
	require.Equal(t, 1, res.Len())
	require.True(t, res.Next())
	require.NoError(t, res.Scan(&a))
	return a
}

// replace has an arrival take the place of a database that nobody misses.
func replace(ctx context.Context, c raw.Copy, a *fenec.Arrival) error {
	_, err := c.Replace(ctx, a, false)
	return err
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	var opened, closed int
	m, err := tenant.Open(dir, tenant.Options{
		DeleteWait: 50 * time.Millisecond,
		OnOpen:     func(tenant.ID, *fenec.DB) error { opened++; return nil },
		OnClose:    func(tenant.ID, *fenec.DB) { closed++ },
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	require.NoError(t, m.Create(t.Context(), "acme"))
	c := raw.CopyOf(m, "acme")
	require.Equal(t, filepath.Join(dir, "acme.fenec"), c.Path())
	value := func() int64 {
		h, err := m.Acquire(t.Context(), "acme")
		require.NoError(t, err)
		defer h.Release()
		return notes(t, h)
	}

	require.NoError(t, replace(t.Context(), c, arrival(t, c, 1)))
	require.Equal(t, []int{1, 1}, []int{opened, closed}, "it is opened by the next use")
	require.EqualValues(t, 1, value())
	require.NoError(t, replace(t.Context(), c, arrival(t, c, 2)))
	require.EqualValues(t, 2, value())

	// Who uses it is asked to let go, and reads on until then.
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	done := make(chan error, 1)
	a := arrival(t, c, 3)
	go func() { done <- replace(context.Background(), c, a) }()
	<-h.Done()
	require.EqualValues(t, 2, notes(t, h))
	h.Release()
	require.NoError(t, <-done)
	require.EqualValues(t, 3, value())

	// Who does not let go finds it closed.
	h, err = m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	require.NoError(t, replace(t.Context(), c, arrival(t, c, 4)))
	_, err = h.Query(t.Context(), "get notes")
	require.ErrorIs(t, err, fenec.ErrClosed)
	require.EqualValues(t, 4, value())
	h.Release()

	// Nothing takes the place of what is frozen, gone, or waited for in vain.
	_, err = m.Freeze(t.Context(), "acme", 0)
	require.NoError(t, err)
	require.ErrorIs(t, replace(t.Context(), c, arrival(t, c, 5)), tenant.ErrFrozen)
	require.NoError(t, m.Thaw(t.Context(), "acme"))
	h, err = m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, replace(ctx, c, arrival(t, c, 5)), context.Canceled)
	h.Release()
	require.EqualValues(t, 4, value())
	require.NoError(t, m.DeleteNow(t.Context(), "acme"))
	require.ErrorIs(t, replace(t.Context(), c, arrival(t, c, 5)), tenant.ErrNotFound)
	left, err := filepath.Glob(filepath.Join(dir, "acme*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.Zero(t, m.Slots())
}

// What is to be kept of a copy is in the trash, whole, and can be taken out of it.
func TestReplaceKeeps(t *testing.T) {
	dir := t.TempDir()
	m, err := tenant.Open(dir, tenant.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	require.NoError(t, m.Create(t.Context(), "acme"))
	c := raw.CopyOf(m, "acme")
	require.NoError(t, replace(t.Context(), c, arrival(t, c, 1)))
	list, err := m.Trash()
	require.NoError(t, err)
	require.Empty(t, list)
	db, release, err := c.Use(t.Context())
	require.NoError(t, err)
	_, err = db.Promote(t.Context(), true)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "set notes {a: 2}")
	require.NoError(t, err)
	release()

	kept, err := c.Replace(t.Context(), arrival(t, c, 3), true)
	require.NoError(t, err)
	list, err = m.Trash()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "acme", list[0].Name)
	require.FileExists(t, kept)
	require.NoError(t, fenec.Check(kept))
	value := func() int64 {
		h, err := m.Acquire(t.Context(), "acme")
		require.NoError(t, err)
		defer h.Release()
		return notes(t, h)
	}
	require.EqualValues(t, 3, value())
	require.NoError(t, m.DeleteNow(t.Context(), "acme"))
	require.NoError(t, m.Undelete(t.Context(), "acme"))
	require.EqualValues(t, 2, value())
}

// Whatever happens while it is replaced, the name has a database, and what it had is there:
// under its name, or in the trash.
func TestReplaceKeepsAtEveryStep(t *testing.T) {
	dir := t.TempDir()
	var steps []string
	begun := false
	m, err := tenant.Open(dir, crashOptions.WithStep(func(step string) {
		if !begun {
			return
		}
		steps = append(steps, step)
		crashed := t.TempDir()
		require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))
		require.Contains(t, replacedWorlds, replacedWorld(t, crashed), step)
	}))
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	require.NoError(t, m.Create(t.Context(), "acme"))
	c := raw.CopyOf(m, "acme")
	require.NoError(t, replace(t.Context(), c, arrival(t, c, 2)))
	arrived := arrival(t, c, 3)
	begun = true
	_, err = c.Replace(t.Context(), arrived, true)
	begun = false
	require.NoError(t, err)
	require.Equal(t, []string{"replace: close", "replace: set aside", "replace: keep", "replace: rename", "replaced"}, steps)
	require.Equal(t, "3, kept 2", replacedWorld(t, dir))
}

// replacedWorlds are what a crash may leave of the note of a tenant and of the one that is
// kept. One that is kept before it is replaced has two names.
var replacedWorlds = []string{"2", "2, kept 2", "3, kept 2"}

func replacedWorld(t *testing.T, from string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	m, err := tenant.Open(dir, crashOptions)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	value := func() string {
		h, err := m.Acquire(t.Context(), "acme")
		require.NoError(t, err)
		defer h.Release()
		return fmt.Sprint(notes(t, h))
	}
	world := value()
	if list, err := m.Trash(); err != nil || len(list) == 0 {
		require.NoError(t, err)
		return world
	}
	require.NoError(t, m.DeleteNow(t.Context(), "acme"))
	require.NoError(t, m.Undelete(t.Context(), "acme"))
	return world + ", kept " + value()
}

// Without a trash nothing is kept.
func TestReplaceWithoutTrash(t *testing.T) {
	dir := t.TempDir()
	m, err := tenant.Open(dir, tenant.Options{TrashKeep: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	require.NoError(t, m.Create(t.Context(), "acme"))
	c := raw.CopyOf(m, "acme")
	kept, err := c.Replace(t.Context(), arrival(t, c, 1), true)
	require.NoError(t, err)
	require.Empty(t, kept)
	require.NoDirExists(t, filepath.Join(dir, ".trash"))
}

// A copy is used whatever its tenant's status, and the tenant is not closed meanwhile.
func TestCopiesAreUsed(t *testing.T) {
	m, err := tenant.Open(t.TempDir(), tenant.Options{IdleClose: time.Nanosecond})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	require.NoError(t, m.Create(t.Context(), "acme"))
	require.NoError(t, m.SetStatus(t.Context(), "acme", tenant.Degraded))
	c := raw.CopyOf(m, "acme")
	db, release, err := c.Use(t.Context())
	require.NoError(t, err)
	m.CloseIdle(time.Now().Add(time.Hour))
	_, err = db.Exec(t.Context(), "create collection notes (a int)")
	require.NoError(t, err)
	c.Failed(fenec.ErrFailed)
	require.Len(t, m.Degraded(), 1)
	release()
	m.CloseIdle(time.Now().Add(time.Hour))
	require.Eventually(t, func() bool { return m.Slots() == 0 }, 10*time.Second, time.Millisecond)
	_, _, err = raw.CopyOf(m, "nobody").Use(t.Context())
	require.ErrorIs(t, err, tenant.ErrNotFound)
	raw.CopyOf(m, "nobody").Failed(fenec.ErrFailed)
	require.Empty(t, m.Degraded())
}

// A database that is kept open is closed for want of room alone, and last.
func TestKeepOpen(t *testing.T) {
	m, err := tenant.Open(t.TempDir(), tenant.Options{
		MaxOpen: 3, IdleClose: time.Nanosecond,
		KeepOpen: func(id tenant.ID) bool { return strings.HasPrefix(id.String(), "kept") },
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	open := func() (names []string) {
		for _, o := range m.Opened() {
			names = append(names, o.Name)
		}
		return names
	}
	for _, name := range []string{"kept1", "kept2", "other", "more"} {
		require.NoError(t, m.Create(t.Context(), name))
	}
	require.Equal(t, []string{"kept1", "kept2", "more"}, open())
	require.NoError(t, m.Create(t.Context(), "kept3"))
	require.Equal(t, []string{"kept1", "kept2", "kept3"}, open())
	m.CloseIdle(time.Now().Add(time.Hour))
	require.Equal(t, []string{"kept1", "kept2", "kept3"}, open())
	require.NoError(t, m.Create(t.Context(), "other2"))
	require.Equal(t, []string{"kept2", "kept3", "other2"}, open(), "the one that was unused longest")
	m.CloseIdle(time.Now().Add(time.Hour))
	require.Equal(t, []string{"kept2", "kept3"}, open())
}

// The name of a tenant that follows is its primary's.
func TestRenameOfAReplica(t *testing.T) {
	m, err := tenant.Open(t.TempDir(), tenant.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	require.NoError(t, m.Create(t.Context(), "acme"))
	c := raw.CopyOf(m, "acme")
	require.NoError(t, replace(t.Context(), c, arrival(t, c, 1)))
	require.ErrorIs(t, m.Rename(t.Context(), "acme", "beta"), tenant.ErrFollows, "closed")
	db, release, err := c.Use(t.Context())
	require.NoError(t, err)
	release()
	require.ErrorIs(t, m.Rename(t.Context(), "acme", "beta"), tenant.ErrFollows, "open")
	_, err = db.Promote(t.Context(), true)
	require.NoError(t, err)
	require.NoError(t, m.Rename(t.Context(), "acme", "beta"))
	at, err := m.Position(t.Context(), "beta")
	require.NoError(t, err)
	require.False(t, at.History.Following)
	require.Greater(t, at.Seq, at.Last)
}
