package node

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// authority keeps whose leases the node has had last, so that a router that others have
// taken the place of gets nothing of it after a restart either.
type authority struct {
	db *fenec.DB // the node's own

	mu   sync.Mutex // held while it is written
	kept replication.Authority
}

// load reads what was kept; the zero Authority of a node that never had a lease.
func (a *authority) load(ctx context.Context) (replication.Authority, error) {
	res, err := a.db.Query(ctx, "get lease_authority")
	if errors.Is(err, fenec.ErrNotFound) {
		return replication.Authority{}, nil
	}
	if err != nil {
		return replication.Authority{}, err
	}
	rows, err := fenec.Collect[struct {
		History string
		Forks   int
	}](res)
	if err != nil || len(rows) == 0 {
		return replication.Authority{}, err
	}
	id, err := replication.ParseID(rows[0].History)
	if err != nil {
		return replication.Authority{}, fmt.Errorf("whose leases the node has had: %w", err)
	}
	a.kept = replication.Authority{History: id, Forks: rows[0].Forks}
	return a.kept, nil
}

// keep keeps it, on disk when it returns.
func (a *authority) keep(ctx context.Context, obeyed replication.Authority) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if obeyed == a.kept {
		return nil
	}
	_, err := a.db.Update(ctx, func(tx *fenec.Tx) error {
		for _, text := range []string{"create collection if not exists lease_authority (history text, forks int)", "del lease_authority where forks >= 0"} {
			if _, err := tx.Exec(ctx, text); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "put lease_authority {history: $1, forks: $2}", obeyed.History.String(), obeyed.Forks)
		return err
	})
	if err == nil {
		err = a.db.Sync(ctx)
	}
	if err != nil {
		return fmt.Errorf("whose leases the node has had could not be kept: %w", err)
	}
	a.kept = obeyed
	return nil
}
