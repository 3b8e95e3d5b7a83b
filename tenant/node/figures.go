package node

import "github.com/fenec-go/fenecdb/fenec/serve"

// figures returns what there is of replication as figures, of all tenants together; none
// for a node that takes no part in it.
func (r *replicator) figures() []serve.Figure {
	if r == nil {
		return nil
	}
	var feeding int64
	for _, o := range r.node.open.all() {
		if o.source != nil {
			feeding += int64(len(o.source.Peers()))
		}
	}
	f := r.followers.sum()
	return []serve.Figure{
		{Name: "fenec_replicas", Help: "Replicas that are in touch with a tenant of this node.", Value: feeding},
		{Name: "fenec_replica_tenants", Help: "Tenants that follow another node's.", Value: f.tenants},
		{Name: "fenec_replica_resting", Help: "Of those: had all there was, and wait to be told of more.", Value: f.resting},
		{Name: "fenec_replica_connected", Help: "Of those: in touch with their primaries.", Value: f.connected},
		{Name: "fenec_replica_behind", Help: "Changes that they lack, as far as is known.", Value: f.behind},
		{Name: "fenec_replica_last_contact_seconds", Help: "Since the primary was heard of, of the one at work for which that is longest ago.", Value: f.silent},
		{Name: "fenec_replica_images_total", Help: "Images taken.", Value: f.images},
		{Name: "fenec_replica_reconnects_total", Help: "Streams that ended.", Value: f.reconnects},
		{Name: "fenec_replica_diverged_total", Help: "How often a tenant was found to differ from its primary's.", Value: f.diverged},
	}
}

// following sums up the followers of a node.
type following struct {
	tenants, resting, connected, behind, silent, images, reconnects, diverged int64
}

func (fs *followers) sum() following {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := following{
		tenants: int64(len(fs.byName)),
		images:  int64(fs.gone.Images), reconnects: int64(fs.gone.Reconnects), diverged: int64(fs.gone.Diverged),
	}
	for _, x := range fs.byName {
		st := x.status()
		f.images += int64(st.Images)
		f.reconnects += int64(st.Reconnects)
		f.diverged += int64(st.Diverged)
		f.behind += int64(st.Behind)
		switch {
		case x.session == nil:
			if x.at == queuedNot && x.late.IsZero() {
				f.resting++
			}
			continue
		case st.Connected:
			f.connected++
		}
		f.silent = max(f.silent, st.LastContactMs/1000)
	}
	return f
}
