package tenant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// asks are all the ways to ask something of a handle.
func asks(ctx context.Context, h *tenant.Handle, s *tenant.Session) map[string]func() error {
	none := func(func([]any, error) bool) {}
	rows := func(all func(func(fenec.Row, error) bool)) (err error) {
		for _, e := range all {
			err = e
		}
		return err
	}
	return map[string]func() error{
		"Query":        func() error { _, err := h.Query(ctx, "get a"); return err },
		"Exec":         func() error { _, err := h.Exec(ctx, "put a {b: 1}"); return err },
		"Batch":        func() error { _, err := h.Batch(ctx, []fenec.Statement{{Text: "get a"}}); return err },
		"Load":         func() error { _, err := h.Load(ctx, "put a {b: $1}", none); return err },
		"Rows":         func() error { return rows(h.Rows(ctx, "get a")) },
		"Update":       func() error { _, err := h.Update(ctx, func(*fenec.Tx) error { return nil }); return err },
		"View":         func() error { return h.View(ctx, func(*fenec.Snapshot) error { return nil }) },
		"Subscribe":    func() error { _, err := h.Subscribe(ctx, fenec.Shape{Collection: "a"}, fenec.NoCursor); return err },
		"Session":      func() error { _, err := h.Session(new(fenec.Policy)); return err },
		"Sync":         func() error { return h.Sync(ctx) },
		"Stats":        func() error { _, err := h.Stats(); return err },
		"Changes":      func() error { _, _, err := h.Changes(ctx, 0, 10); return err },
		"WaitSeq":      func() error { return h.WaitSeq(ctx, 0) },
		"WaitChange":   func() error { return h.WaitChange(ctx, 0, "a") },
		"of a session": func() error { _, err := s.Query(ctx, "get a"); return err },
	}
}

func TestReleasedHandle(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{MaxInFlight: 3})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection a (b int)")
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	policy, err := fenec.NewPolicy(fenec.Access{Others: fenec.Grants{Read: "true"}})
	require.NoError(t, err)
	s, err := h.Session(policy)
	require.NoError(t, err)
	sub, err := h.Subscribe(t.Context(), fenec.Shape{Collection: "a"}, fenec.NoCursor)
	require.NoError(t, err)
	for name, ask := range asks(t.Context(), h, s) {
		require.NoError(t, ask(), name)
	}
	require.Equal(t, []string{"a"}, h.Collections())
	require.Positive(t, h.Seq())
	require.NotNil(t, raw.DB(h))
	require.NoError(t, h.Resume(t.Context()), "without a pause")

	h.Release()
	h.Release()
	for name, ask := range asks(t.Context(), h, s) {
		require.ErrorIs(t, ask(), tenant.ErrReleased, name)
	}
	_, err = sub.Next(t.Context())
	require.ErrorIs(t, err, tenant.ErrReleased)
	require.Empty(t, h.Collections())
	require.Zero(t, h.Seq())
	require.Nil(t, raw.DB(h))
	require.Equal(t, "acme", h.ID().String(), "whose it was may be told")
	require.NoError(t, m.Delete(t.Context(), "acme"), "it keeps nothing open")
}

// TestReleaseDuringACall lets the call end before the database may go.
func TestReleaseDuringACall(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection a (b int)")
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	deleted := make(chan error)
	require.NoError(t, h.View(t.Context(), func(s *fenec.Snapshot) error {
		h.Release()
		go func() { deleted <- m.Delete(context.Background(), "acme") }()
		<-h.Done()
		_, err := s.Query(t.Context(), "get a")
		return err
	}))
	require.NoError(t, <-deleted)
}

func TestSubscriptionsEndWithTheirTenant(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	for _, c := range []struct {
		name string
		end  func() error
		want error
	}{
		{"delete", func() error { return m.Delete(context.Background(), "acme") }, tenant.ErrEnded},
		{"rename", func() error { return m.Rename(context.Background(), "acme", "beta") }, tenant.ErrEnded},
		{"close", m.Close, tenant.ErrClosed},
	} {
		require.NoError(t, m.Create(t.Context(), "acme"))
		run(t, m, "acme", "create collection a (b int)")
		h, err := m.Acquire(t.Context(), "acme")
		require.NoError(t, err)
		sub, err := h.Subscribe(t.Context(), fenec.Shape{Collection: "a"}, fenec.NoCursor)
		require.NoError(t, err)
		_, err = sub.Next(t.Context())
		require.NoError(t, err, "the seed")
		ended := make(chan error)
		go func() {
			_, err := sub.Next(context.Background())
			h.Release()
			ended <- err
		}()
		require.NoError(t, c.end(), c.name)
		require.ErrorIs(t, <-ended, c.want, c.name)
	}
}

func TestRefusedDeleteLetsStreamsBegin(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{DeleteWait: 1})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection a (b int)")
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	defer h.Release()
	done := h.Done()
	require.ErrorIs(t, m.Delete(t.Context(), "acme"), tenant.ErrBusy)
	<-done
	next, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	defer next.Release()
	for _, h := range []*tenant.Handle{h, next} {
		select {
		case <-h.Done():
			require.Fail(t, "the delete is over")
		default:
		}
		sub, err := h.Subscribe(t.Context(), fenec.Shape{Collection: "a"}, fenec.NoCursor)
		require.NoError(t, err)
		_, err = sub.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, sub.Close())
	}
	done = h.Done()
	require.ErrorIs(t, m.Delete(t.Context(), "acme"), tenant.ErrBusy)
	<-done
}

// TestACopyIsTheSameHandle releases one of two copies.
func TestACopyIsTheSameHandle(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{DeleteWait: 1, MaxInFlight: 1})
	require.NoError(t, m.Create(t.Context(), "acme"))
	h := acquire(t, m, "acme")
	cp := *h
	h.Release()
	_, err := cp.Settings(t.Context())
	require.ErrorIs(t, err, tenant.ErrReleased)
	_, err = cp.Stats()
	require.ErrorIs(t, err, tenant.ErrReleased)
	held := acquire(t, m, "acme")
	cp.Release()
	require.ErrorIs(t, m.Delete(t.Context(), "acme"), tenant.ErrBusy, "only its own reference is given back")
	held.Release()
	require.NoError(t, m.Delete(t.Context(), "acme"))
}

func TestContextCarriesTheHandle(t *testing.T) {
	_, ok := tenant.FromContext(t.Context())
	require.False(t, ok)
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	h := tenant.Single(db)
	got, ok := tenant.FromContext(tenant.NewContext(t.Context(), h))
	require.True(t, ok)
	require.Same(t, h, got)
}

func TestSingle(t *testing.T) {
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	h := tenant.Single(db)
	require.Equal(t, "default", h.ID().String())
	_, err = h.Exec(t.Context(), "create collection a (b int)")
	require.NoError(t, err)
	h.Pause()
	require.NoError(t, h.Resume(t.Context()))
	h.Release()
	_, err = h.Query(t.Context(), "get a")
	require.ErrorIs(t, err, tenant.ErrReleased)
	require.Equal(t, []string{"a"}, db.Collections(), "the database stays open")
}

func TestIDIsWrittenAndNotRead(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	id, err := m.Lookup(t.Context(), "acme")
	require.NoError(t, err)
	text, err := json.Marshal(map[string]tenant.ID{"for": id})
	require.NoError(t, err)
	require.JSONEq(t, `{"for":"acme"}`, string(text))
	require.Equal(t, "acme", fmt.Sprint(id))
	var read map[string]tenant.ID
	require.Error(t, json.Unmarshal(text, &read))
	require.Empty(t, read["for"].String())
	_, err = m.Lookup(t.Context(), "beta")
	require.ErrorIs(t, err, tenant.ErrNotFound)
	require.ErrorIs(t, m.Do(t.Context(), tenant.ID{}, nil), tenant.ErrName, "the zero ID is nobody's")
	require.NotImplements(t, (*json.Unmarshaler)(nil), &id)
	require.NotImplements(t, (*interface{ UnmarshalText([]byte) error })(nil), &id)
}
