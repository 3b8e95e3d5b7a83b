package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// measureCatchUp has a new replica get all writes of a load, and another one get an image.
func measureCatchUp(ctx context.Context, e *env) error {
	all := func(o *node.Options) { o.ReplicationBuffer = 4 << 30 }
	return e.withNodes("catchup", []func(*node.Options){all, all, all}, func(nodes []*nearNode) error {
		b := &catchUpBench{env: e, primary: nodes[0], made: gen.NewClustered(e.dim)}
		for _, step := range []func() error{
			func() error { return b.load(ctx) },
			func() error { return b.follow(ctx, nodes[1]) },
			func() error { return b.image(ctx, nodes[2]) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// catchUpBench is a primary with a tenant that others come to follow.
type catchUpBench struct {
	*env
	primary *nearNode
	made    *gen.Clustered
	loaded  time.Duration // how long the primary took to write all
}

// onNode asks a node and wants a 2xx.
func onNode(ctx context.Context, n *nearNode, method, path, token, body string) error {
	_, err := successful(send(ctx, method, n.url()+path, token, []byte(body)))
	return err
}

func (b *catchUpBench) load(ctx context.Context) error {
	if err := onNode(ctx, b.primary, "PUT", "/_admin/tenants/"+acme, adminToken, ""); err != nil {
		return err
	}
	schema := fmt.Sprintf(`{"query":"create collection items (v vector<%d>)"}`, b.dim)
	if err := onNode(ctx, b.primary, "POST", "/t/"+acme+"/query", dataToken, schema); err != nil {
		return err
	}
	if err := onNode(ctx, b.primary, "POST", "/t/"+acme+"/query", dataToken, fmt.Sprintf(`{"query":%q}`, createIndex)); err != nil {
		return err
	}
	for from := 0; from < b.vectors; from += fillStep {
		body, err := b.piece(from, min(from+fillStep, b.vectors))
		if err != nil {
			return err
		}
		start := time.Now() // what makes the vectors is not what writes them
		if err := onNode(ctx, b.primary, "POST", "/t/"+acme+"/items", dataToken, body); err != nil {
			return err
		}
		b.loaded += time.Since(start)
	}
	return b.idle(ctx)
}

func (b *catchUpBench) piece(from, to int) (string, error) {
	items := make([]item, to-from)
	for i := range items {
		items[i].V = make([]float32, b.dim)
		b.made.Fill(items[i].V, gen.StoredVector, from+i)
	}
	body, err := json.Marshal(items)
	return string(body), err
}

// idle waits until this process has nothing left to do, such as linking vectors.
func (b *catchUpBench) idle(ctx context.Context) error {
	_, err := (&server{pid: os.Getpid()}).quiet(ctx)
	return err
}

// join has a node's copy follow and returns how long it took until it had all.
func (b *catchUpBench) join(ctx context.Context, n *nearNode) (time.Duration, error) {
	want, err := b.primary.last(ctx, acme)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := onNode(ctx, n, "POST", "/_admin/tenants/"+acme+"/follow", adminToken, fmt.Sprintf(`{"from":%q}`, b.primary.url())); err != nil {
		return 0, err
	}
	for {
		if at, err := n.last(ctx, acme); err != nil || at == want {
			return time.Since(start), err
		}
		if err := sleep(ctx, levelPause); err != nil {
			return 0, err
		}
	}
}

// follow has a node get every write.
func (b *catchUpBench) follow(ctx context.Context, n *nearNode) error {
	if err := onNode(ctx, n, "PUT", "/_admin/tenants/"+acme, adminToken, ""); err != nil {
		return err
	}
	took, err := b.join(ctx, n)
	if err != nil {
		return err
	}
	rate := func(d time.Duration) float64 { return float64(b.vectors) / d.Seconds() }
	b.out.Line("documents a second, the primary's own writing", perSecond, rate(took), rate(b.loaded), rate(took)/rate(b.loaded), report.AtLeast(1))
	b.note("  %d vectors of %d: %v, which the primary wrote in %v", b.vectors, b.dim, took.Round(time.Millisecond), b.loaded.Round(time.Millisecond))
	return b.idle(ctx)
}

func perSecond(n float64) string { return fmt.Sprintf("%.0f/s", n) }

// image has a node whose copy has another history get an image, and copies the file, in
// turns.
func (b *catchUpBench) image(ctx context.Context, n *nearNode) error {
	size := 0.0
	rates, err := measure.Interleave(ctx, b.moves, []measure.Contender{
		{Name: "image", Slice: func() (float64, error) {
			if err := b.stray(ctx, n); err != nil {
				return 0, err
			}
			took, err := b.join(ctx, n)
			if err != nil {
				return 0, err
			}
			st, err := os.Stat(filepath.Join(n.dir, acme+".fenec"))
			if err == nil {
				size = float64(st.Size())
			}
			return size / took.Seconds(), err
		}, Settle: func() error { return b.idle(ctx) }},
		{Name: "copy", Slice: func() (float64, error) {
			to := b.path("copy")
			start := time.Now()
			bytes, err := copySynced(filepath.Join(n.dir, acme+".fenec"), to)
			took := time.Since(start)
			return float64(bytes) / took.Seconds(), errors.Join(err, os.Remove(to))
		}},
	})
	if err != nil {
		return err
	}
	b.out.Line("an image, copying and syncing the file", megabytes, rates[0], rates[1], rates[0]/rates[1], report.AtLeast(0.5))
	b.note("  of %.1f MB", size/1e6)
	return nil
}

// stray makes the node's copy one that nobody else has the history of.
func (b *catchUpBench) stray(ctx context.Context, n *nearNode) error {
	a, err := send(ctx, "DELETE", n.url()+"/_admin/tenants/"+acme+"?purge=1", adminToken, nil)
	if err != nil {
		return err
	}
	if a.Status != 404 {
		if _, err := successful(a, nil); err != nil {
			return err
		}
	}
	if err := onNode(ctx, n, "PUT", "/_admin/tenants/"+acme, adminToken, ""); err != nil {
		return err
	}
	return onNode(ctx, n, "POST", "/t/"+acme+"/query", dataToken, `{"query":"create collection strays (n int)"}`)
}
