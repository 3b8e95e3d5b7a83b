package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// herd is how many requests for a closed tenant come at once.
const herd = 1000

// measureHerd sends many requests for a closed tenant at once and counts how often
// it is opened for them.
func measureHerd(ctx context.Context, e *env) error {
	dir, err := e.directory(ctx, few)
	if err != nil {
		return err
	}
	var opens opens
	took, err := e.median(ctx, func() (took float64, err error) {
		err = manage(dir, tenant.Options{OnOpen: opens.count}, func(m *tenant.Manager) error {
			took, err = stampede(ctx, m)
			return err
		})
		return took, err
	})
	if err != nil {
		return err
	}
	herds := float64(e.Rounds + 1) // the one that is not timed is counted
	e.atMost(fmt.Sprintf("opens for %d requests at once", herd), report.Count, float64(opens.Load())/herds, 1)
	e.note("%s until all are answered", report.Duration(took))
	return nil
}

// few is how many tenants a directory has of which few are used.
const few = 1000

// opens counts databases that are opened.
type opens struct{ atomic.Int64 }

func (o *opens) count(tenant.ID, *fenec.DB) error {
	o.Add(1)
	return nil
}

// stampede lets a herd ask one tenant and returns how long it takes until all have
// their answer.
func stampede(ctx context.Context, m *tenant.Manager) (float64, error) {
	var (
		wg   sync.WaitGroup
		gate = make(chan struct{})
		errs = make([]error, herd)
	)
	for i := range errs {
		wg.Go(func() {
			<-gate
			errs[i] = visit(ctx, m, name(0), read)
		})
	}
	start := time.Now()
	close(gate)
	wg.Wait()
	return float64(time.Since(start)), errors.Join(errs...)
}
