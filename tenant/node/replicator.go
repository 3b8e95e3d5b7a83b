package node

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// replicator is a node's part in replication: it serves its tenants' writes to the nodes
// that follow them, and follows what its own tenants are copies of. A node without a
// replication token has none.
type replicator struct {
	node      *Node
	primary   string // URL of the node that this one follows as a whole, "" for none
	transport http.RoundTripper
	own       *http.Transport // nil if it was given one
	log       *log.Logger
	bell      *mirror.Bell
	followers *followers
	lanes     lanes // held while a tenant is made, its follower is started or stopped, or its role is changed

	fed     sync.Map    // names of tenants whose replicas are here, or rest
	leading sync.Map    // names of tenants that are being made as primaries
	ended   atomic.Bool // nothing is served any more
	stop    context.CancelFunc
	runs    sync.WaitGroup
}

// defaultBuffer is the default of Options.ReplicationBuffer.
const defaultBuffer = 64 << 20

// setReplication makes the node's replicator, if it has a token, and sets the options of
// databases that depend on it.
func (n *Node) setReplication(opts *Options) error {
	if opts.ReplicationToken.IsZero() {
		if opts.ReplicaOf != "" || opts.ReplicasHeld != 0 || opts.ReplicaReports {
			return errors.New("node: ReplicaOf, ReplicasHeld and ReplicaReports need ReplicationToken")
		}
		return nil
	}
	db := &opts.Tenants.DB
	switch {
	case db.Sync == fenec.SyncOff:
		return errors.New("node: ReplicationToken needs a Sync that brings writes to disk: only what is there is replicated")
	case opts.ReplicationBuffer < 0 || opts.ReplicasHeld < 0:
		return errors.New("node: ReplicationBuffer and ReplicasHeld must not be negative")
	case opts.ReplicationBuffer == 0:
		opts.ReplicationBuffer = defaultBuffer
	}
	db.FeedBytes = max(db.FeedBytes, opts.ReplicationBuffer)
	r := &replicator{node: n, transport: opts.ReplicationTransport, log: opts.Surface.ErrorLog, bell: mirror.NewBell(mirror.BellOptions{})}
	if r.log == nil {
		r.log = log.Default()
	}
	if opts.ReplicaOf != "" {
		var err error
		if r.primary, err = mirror.ParsePrimary(opts.ReplicaOf); err != nil {
			return fmt.Errorf("node: ReplicaOf: %w", err)
		}
	}
	if r.transport == nil {
		r.own = mirror.NewTransport()
		r.transport = r.own
	}
	opts.ReplicaReports = opts.ReplicaReports || opts.ReplicasHeld > 0
	n.replicator = r
	return nil
}

// join has the manager ask for what depends on replication.
func (r *replicator) join(opts *tenant.Options) {
	n := r.node
	if keep := opts.KeepOpen; keep == nil {
		opts.KeepOpen = n.keeps
	} else {
		opts.KeepOpen = func(id tenant.ID) bool { return keep(id) || n.keeps(id) }
	}
	if r.primary == "" {
		return // then every tenant is settled
	}
	if fence := opts.Fence; fence == nil {
		opts.Fence = n.settled
	} else {
		opts.Fence = func(id tenant.ID) error { return errors.Join(n.settled(id), fence(id)) }
	}
}

// start begins to follow, in the background.
func (r *replicator) start() {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.followers = newFollowers(ctx, r)
	r.node.tenants.OnChange(r.changed)
	r.runs.Go(r.followers.scan)
	r.runs.Go(func() { r.every(ctx, time.Second) })
}

// every looks after bells and followers until ctx ends.
func (r *replicator) every(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, o := range r.node.open.all() {
				r.ringIfWritten(o)
			}
			r.followers.tidy()
		case <-ctx.Done():
			return
		}
	}
}

// changed is told of tenants that come and go. Whoever follows the one of the name has to
// look at it, and here it may have become one that follows.
func (r *replicator) changed(name string) {
	r.bell.Ring(name)
	r.followers.reconsider(name)
}

// copyOf returns a tenant as replication has it.
func (n *Node) copyOf(name string) raw.Copy { return raw.CopyOf(n.tenants, name) }

// instance names a tenant's database on this node among all.
func (r *replicator) instance(name string) string { return r.node.tenants.Boot() + "/" + name }

// serves makes o one that is replicated from.
func (r *replicator) serves(o *opened, opts *Options) {
	o.source = mirror.NewSource(o.db, mirror.SourceOptions{
		Instance: r.instance(o.name),
		Promote: func(ctx context.Context, force bool) (replication.History, error) {
			return r.promote(ctx, o.name, force)
		},
		Following: func() (mirror.ReplicaStatus, bool) { return r.followers.status(o.name) },
		Held:      opts.ReplicasHeld,
		Reports:   opts.ReplicaReports,
		ErrorLog:  r.log,
	})
	o.rung.Store(written(o.db))
	o.incomplete.Store(o.db.History().Incomplete)
	_, fed := r.fed.Load(o.name)
	o.fed.Store(fed)
}

// written returns the last write that followers could be sent.
func written(db *fenec.DB) uint64 { return min(db.LastWrite(), db.SyncedSeq()) }

// ringIfWritten rings the bell for what was written in another way than by a statement, for
// what has come to disk since it rang, and for a replica that has become complete: those
// that follow it have, too.
func (r *replicator) ringIfWritten(o *opened) {
	if o.source == nil {
		return
	}
	completed := o.incomplete.Load() && !o.db.History().Incomplete
	if at := written(o.db); at > o.rung.Load() || completed {
		o.rung.Store(at)
		o.incomplete.Store(o.db.History().Incomplete)
		r.bell.Ring(o.name)
	}
}

// confirms sees to it that a write gets to where it has to be before it is answered.
func (r *replicator) confirms(ctx context.Context, o *opened, seq uint64) error {
	durable := o.db.SyncedSeq() >= seq
	if durable {
		o.rung.Store(seq)
	}
	r.bell.Ring(o.name) // first: what is asleep must wake for it
	if durable && o.fed.Load() && len(o.source.Peers()) == 0 && !r.awakes(ctx, o, seq) && ctx.Err() == nil {
		r.starves(o)
	}
	return o.source.Confirm(ctx, seq)
}

// wakeWait is how long a write waits for a replica that rests to come for it.
const wakeWait = 500 * time.Millisecond

// awakes waits until a replica has been sent a write, and reports whether one was. Without
// that a write which is answered when all replicas rest would be lost with the process.
func (r *replicator) awakes(ctx context.Context, o *opened, seq uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, wakeWait)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		for _, p := range o.source.Peers() {
			if p.Sent >= seq {
				return true
			}
		}
	}
}

// feeds notes that a tenant has a replica, and starves that it has none any more, as far as
// is known: writes do not wait for it again.
func (r *replicator) feeds(o *opened) {
	o.fed.Store(true)
	r.fed.Store(o.name, nil)
}

func (r *replicator) starves(o *opened) {
	o.fed.Store(false)
	r.fed.Delete(o.name)
}

// endsServing ends the streams of o, which is about to be closed. What rests and has not
// heard of its last writes does now.
func (r *replicator) endsServing(o *opened) {
	if o.source == nil {
		return
	}
	o.source.Close("the database is being closed")
	if o.db.LastWrite() > o.rung.Load() {
		r.bell.Ring(o.name)
	}
}

// keeps reports whether a database is being replicated.
func (n *Node) keeps(id tenant.ID) bool {
	o, _ := n.open.of(id.String())
	return o != nil && o.source != nil && (len(o.source.Peers()) > 0 || n.replicator.followers.runs(o.name))
}

// endStreams ends everything that is sent to followers, for good.
func (r *replicator) endStreams() {
	r.ended.Store(true)
	r.bell.Close()
	var ending sync.WaitGroup
	for _, o := range r.node.open.all() {
		if o.source != nil {
			ending.Go(func() { o.source.Close("the node is being closed") })
		}
	}
	ending.Wait()
}

// close ends everything.
func (r *replicator) close() {
	r.endStreams()
	r.stop()
	r.runs.Wait()
	r.followers.close()
	if r.own != nil {
		r.own.CloseIdleConnections()
	}
}
