package router

// watcher is told of each change of what is placed where, in the order of the changes
// and as soon as look-ups see it. Calls are never concurrent. They must not wait, nor
// change the directory.
type watcher interface {
	// nodeKnown tells of a node that is recorded, maybe not for the first time.
	nodeKnown(node string)
	// nodeGone tells of a node that is forgotten, on which nothing is placed.
	nodeGone(node string)
	// settled tells that a tenant is on the node to and no longer on from; one that had
	// no place comes from "", and one that has none any more goes to "".
	settled(tenant, from, to string)
}

// nobody is the watcher of a directory that has none.
type nobody struct{}

func (nobody) nodeKnown(string)               {}
func (nobody) nodeGone(string)                {}
func (nobody) settled(string, string, string) {}

// watch has w told of all changes from now on, and first of all that there is. It takes
// the place of another watcher.
func (d *Directory) watch(w watcher) {
	d.change.Lock()
	defer d.change.Unlock()
	d.watcher = w
	for _, n := range d.Nodes() {
		w.nodeKnown(n.Name)
	}
	for _, t := range d.Tenants() {
		w.settled(t.Name, "", t.Node)
	}
}

// settle brings the memory up to a change of a tenant's node: next is where the tenant is
// now, nil for nowhere.
func (d *Directory) settle(tenant string, next *place) {
	from, to := "", ""
	before, ok := d.tenants.get(tenant)
	if next != nil {
		d.tenants.put(tenant, next)
		next.on.tenants.Add(1)
		to = next.on.name()
	} else {
		d.tenants.take(tenant)
	}
	if ok {
		before.on.tenants.Add(-1)
		from = before.on.name()
	}
	if from != to {
		d.watcher.settled(tenant, from, to)
	}
}
