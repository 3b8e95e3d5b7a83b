package fenec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// bank moves money between accounts; no reader may see any on the way.
type bank struct {
	db      *fenec.DB
	total   int64
	stop    chan struct{}
	ended   int // views
	reading sync.WaitGroup
	mu      sync.Mutex
	errs    []error
	reads   int
}

func TestBank(t *testing.T) {
	const accounts, each, transfers = 40, 100, 150
	for _, opts := range []fenec.Options{{}, {FrontBytes: 32 << 10}} {
		t.Run(fmt.Sprintf("FrontBytes=%d", opts.FrontBytes), func(t *testing.T) {
			opts.Sync = fenec.SyncOff
			db := file(t, opts, "create collection account (balance int @sorted, owner text @unique)")
			b := &bank{db: db, total: accounts * each, stop: make(chan struct{})}
			for i := range accounts {
				_, err := db.Exec(t.Context(), "put account {balance: $1, owner: $2}", each, fmt.Sprint("owner ", i))
				require.NoError(t, err)
			}
			for range 3 {
				b.reading.Go(b.audit)
			}
			b.reading.Go(b.maintain)
			for i := range transfers {
				b.transfer(t, i, accounts)
			}
			close(b.stop)
			b.reading.Wait()
			require.NoError(t, errors.Join(b.errs...))
			require.Positive(t, b.reads)
			require.NoError(t, db.View(t.Context(), b.balanced))
		})
	}
}

// transfer moves money from one account to another, which in the course of it
// is closed and opened anew under another id.
func (b *bank) transfer(t *testing.T, i, accounts int) {
	from, to := fmt.Sprint("owner ", i*7%accounts), fmt.Sprint("owner ", (i*13+1)%accounts)
	if from == to {
		return
	}
	stmts := []fenec.Statement{
		{Text: "set account {balance: balance - $1} where owner = $2", Args: []any{i, from}},
		{Text: "set account {balance: balance + $1} where owner = $2", Args: []any{i, to}},
	}
	if i%5 == 0 {
		res := query(t, b.db, "get account where owner = $1 select balance", to)
		require.True(t, res.Next())
		var balance int
		require.NoError(t, res.Scan(&balance))
		stmts = append(stmts,
			fenec.Statement{Text: "del account where owner = $1", Args: []any{to}},
			fenec.Statement{Text: "put account {balance: $1, owner: $2}", Args: []any{balance + i, to}})
	}
	_, err := b.db.Batch(t.Context(), stmts)
	require.NoError(t, err)
}

// audit reads until it is stopped, and once at least.
func (b *bank) audit() {
	for read := false; ; {
		select {
		case <-b.stop:
			if read {
				return
			}
		default:
		}
		err := b.db.View(context.Background(), b.balanced)
		b.mu.Lock()
		switch {
		case err == nil:
			read = true
			b.reads++
		case errors.Is(err, fenec.ErrSnapshotTooOld):
			b.ended++
		default:
			b.errs, read = append(b.errs, err), true
		}
		b.mu.Unlock()
	}
}

// maintain folds and rewrites the file until it is stopped.
func (b *bank) maintain() {
	for i := 0; ; i++ {
		select {
		case <-b.stop:
			return
		default:
		}
		err := b.db.Checkpoint(context.Background())
		if i%5 == 4 {
			err = b.db.Compact(context.Background())
		}
		if err != nil {
			b.mu.Lock()
			b.errs = append(b.errs, err)
			b.mu.Unlock()
			return
		}
	}
}

// balanced adds all balances up, through the rows and through the index.
func (b *bank) balanced(sn *fenec.Snapshot) error {
	for _, text := range []string{
		"get account", "get account order balance desc", "get account where balance >= 0 or balance < 0",
	} {
		res, err := sn.Query(context.Background(), text)
		if err != nil {
			return err
		}
		var sum int64
		for row := range res.All() {
			n, err := row.Int("balance")
			if err != nil {
				return err
			}
			sum += n
		}
		if sum != b.total {
			return fmt.Errorf("%s at %d: %d in %d accounts, want %d", text, sn.Seq(), sum, res.Len(), b.total)
		}
	}
	return nil
}

// An image is of one sequence while writers go on.
func TestImageBesideWriters(t *testing.T) {
	db := file(t, fenec.Options{Sync: fenec.SyncOff}, "create collection c (n int, s text)")
	ctx := t.Context()
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			_, err := db.Batch(ctx, []fenec.Statement{
				{Text: "put c {id: 1, n: $1}", Args: []any{i}}, {Text: "put c {id: 2, n: $1}", Args: []any{-i}},
			})
			if err != nil {
				done <- err
				return
			}
		}
	}()
	for range 5 {
		var image bytes.Buffer
		require.NoError(t, db.Image(ctx, &image))
		path := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, fenec.Install(path, &image))
		require.NoError(t, fenec.Check(path))
		copied, err := fenec.Open(path, fenec.Options{})
		require.NoError(t, err)
		var sum int64
		for row := range query(t, copied, "get c").All() {
			n, err := row.Int("n")
			require.NoError(t, err)
			sum += n
		}
		require.Zero(t, sum)
		require.NoError(t, copied.Close())
	}
	close(stop)
	require.NoError(t, <-done)
	require.False(t, strings.Contains(db.Path(), ".image"))
}
