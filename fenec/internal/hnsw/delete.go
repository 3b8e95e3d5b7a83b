package hnsw

import "sync/atomic"

// Delete takes an id out of the graph, and reports whether it was there. Searches
// still walk through its node until Repair frees that. A changed vector is
// deleted and inserted again.
func (g *Graph) Delete(id uint64) bool {
	g.cut.RLock()
	defer g.cut.RUnlock()
	shard := g.ids.shard(id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if shard.count == 0 {
		return false
	}
	v := g.view.Load()
	slot, found := shard.findLocked(v, id)
	if !found {
		return false
	}
	n := shard.slots[slot]
	shard.removeLocked(v, slot)
	g.gone.Add(1) // before the node is dead, for every search that may meet it to know
	atomic.OrUint32(v.state(n), dead)
	v.mark(n)
	g.live.Add(-1)
	return true
}
