package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// bank is a store of accounts between which money moves: whoever looks sees the
// same sum.
type bank struct {
	*store.Store
	accounts int
	each     uint64
}

func account(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

func amount(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// open puts the same amount into every account.
func (k *bank) open() error {
	ops := make([]op, k.accounts)
	for i := range ops {
		ops[i] = op{1, string(account(i)), amount(k.each)}
	}
	_, err := tryWrite(k.Store, ops...)
	return err
}

// move takes money from one account to another, or changes its mind.
func (k *bank) move(r *rand.Rand) error {
	b, err := k.Begin(ctx, nil)
	if err != nil {
		return err
	}
	from, to := r.IntN(k.accounts), r.IntN(k.accounts)
	balances := make([]uint64, 2)
	for i, n := range []int{from, to} {
		val, err := b.Get(1, account(n))
		if err != nil || len(val) != 8 {
			b.Rollback()
			return errors.Join(err, fmt.Errorf("account %d: %x", n, val))
		}
		balances[i] = binary.BigEndian.Uint64(val)
	}
	n := r.Uint64N(balances[0] + 1)
	if from == to || r.IntN(10) == 0 {
		b.Rollback()
		return nil
	}
	err = fill(b,
		op{1, string(account(from)), amount(balances[0] - n)},
		op{1, string(account(to)), amount(balances[1] + n)},
		op{2, string(account(r.IntN(1000))), bytes.Repeat([]byte{1}, r.IntN(300))},
		op{2, string(account(r.IntN(1000))), nil})
	if err != nil {
		b.Rollback()
		return err
	}
	ticket, err := b.Commit(nil)
	if err != nil {
		return err
	}
	return ticket.Wait(ctx)
}

// audit adds up what v sees.
func (k *bank) audit(v *store.View) error {
	sum, n := uint64(0), 0
	it := v.Iter(1, nil, nil)
	for it.First(); it.Valid(); it.Next() {
		sum += binary.BigEndian.Uint64(it.Value())
		n++
	}
	if err := it.Err(); err != nil {
		return err
	}
	if sum != k.each*uint64(k.accounts) || n != k.accounts {
		return fmt.Errorf("%d in %d accounts", sum, n)
	}
	return nil
}

// look audits a snapshot twice.
func (k *bank) look() error {
	sn, err := k.Snapshot()
	if err != nil {
		return err
	}
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	if err = k.audit(v); err == nil {
		v.Release()
		err = k.audit(v)
	}
	if errors.Is(err, store.ErrSnapshotTooOld) {
		return nil
	}
	return err
}

// backUp takes an image, installs it and audits the copy.
func (k *bank) backUp(path string) error {
	m, err := k.OpenImage(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(store.Install(path, m, nil), m.Close())
	if err != nil {
		return err
	}
	return store.Check(path, store.Options{Replay: replay}, k.audit)
}

// Everything a store can do, all at once.
func TestAllAtOnce(t *testing.T) {
	for name, opts := range map[string]store.Options{
		"small fronts": {Sync: store.SyncOff, FrontBytes: 32 << 10},
		"durable":      {Sync: store.SyncAlways},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "db")
			k := &bank{Store: open(t, path, opts), accounts: 50, each: 100}
			require.NoError(t, k.open())
			tasks := []struct {
				n  int
				do func(i int, r *rand.Rand) error
			}{
				{300, func(_ int, r *rand.Rand) error { return k.move(r) }},
				{300, func(_ int, r *rand.Rand) error { return k.move(r) }},
				{300, func(_ int, r *rand.Rand) error { return k.move(r) }},
				{300, func(int, *rand.Rand) error { return k.look() }},
				{300, func(int, *rand.Rand) error { return k.look() }},
				{20, func(int, *rand.Rand) error { return k.Checkpoint(ctx) }},
				{6, func(int, *rand.Rand) error { return k.Compact(ctx) }},
				{4, func(i int, _ *rand.Rand) error { return k.backUp(filepath.Join(dir, fmt.Sprint("copy", i))) }},
				{100, func(int, *rand.Rand) error { k.Stats(); k.Oldest(); return k.Sync(ctx) }},
			}
			var wg sync.WaitGroup
			errs := make(chan error, len(tasks))
			for i, task := range tasks {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 17))
					var err error
					for n := 0; n < task.n && err == nil; n++ {
						err = task.do(n, r)
					}
					errs <- err
				})
			}
			wg.Wait()
			for range tasks {
				require.NoError(t, <-errs)
			}
			require.NoError(t, k.Close())
			require.NoError(t, store.Check(path, store.Options{Replay: replay}, k.audit))
		})
	}
}

// A store may be closed in the middle of all that. Everybody is told, and what
// was acknowledged is there.
func TestCloseInTheMiddle(t *testing.T) {
	for seed := range uint64(6) {
		path := filepath.Join(t.TempDir(), "db")
		k := &bank{Store: open(t, path, store.Options{Sync: store.SyncAlways, FrontBytes: 64 << 10, NoCheckpoint: seed%2 == 0}), accounts: 20, each: 100}
		require.NoError(t, k.open())
		tasks := []func(r *rand.Rand) error{
			k.move, k.move,
			func(*rand.Rand) error { return k.look() },
			func(*rand.Rand) error { return k.Checkpoint(ctx) },
			func(*rand.Rand) error { return k.Compact(ctx) },
			func(*rand.Rand) error { k.Stats(); return k.Sync(ctx) },
			func(*rand.Rand) error {
				m, err := k.OpenImage(ctx)
				if err != nil {
					return err
				}
				_, err = io.Copy(io.Discard, m)
				return errors.Join(err, m.Close())
			},
		}
		var wg sync.WaitGroup
		errs := make(chan error, len(tasks))
		begun := make(chan struct{}, len(tasks))
		for i, task := range tasks {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				err := task(r)
				begun <- struct{}{}
				for err == nil {
					err = task(r)
				}
				errs <- err
			})
		}
		for range tasks {
			<-begun
		}
		require.NoError(t, k.Close())
		wg.Wait()
		for range tasks {
			require.ErrorIs(t, <-errs, store.ErrClosed)
		}
		require.NoError(t, store.Check(path, store.Options{Replay: replay}, k.audit))
	}
}
