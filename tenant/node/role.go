package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
)

// errUnsettled refuses the writes of a tenant that was there before its node was made to
// follow another one: whether it is to be overwritten with what that has, or to be written
// itself, is for somebody to say.
var errUnsettled = errors.New("the tenant is no replica yet, on a node that follows another: it has to be told to follow, or be promoted")

// errNowhere is returned by follow where nobody says whom.
var errNowhere = errors.New("the node follows no other: say whom the tenant is to follow")

// errNoToken is returned for what takes part in replication on a node that does not.
var errNoToken = errors.New("the node has no replication token")

// upstream returns the URL of the node that a tenant is to follow if it is a replica, ""
// for none, and whether that was said of this tenant.
func (n *Node) upstream(name string) (from string, told bool, err error) {
	if n.replicator == nil {
		return "", false, nil
	}
	text, err := n.tenants.ReadBeside(name, tenant.FollowsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if from = strings.TrimSpace(string(text)); from != "" {
		return from, true, nil
	}
	return n.replicator.primary, false, nil
}

// settle decides what part in replication a database has that was opened. That is the
// file's to say: whoever was promoted stays a primary with whatever options the node is
// started, and whoever follows takes no writes.
func (n *Node) settle(o *opened) error {
	ctx := context.Background() // it waits for the disk alone
	from, told, err := n.upstream(o.name)
	if err != nil {
		return err
	}
	db, h := o.db, o.db.History()
	switch {
	case h.Following && from == "":
		n.logOnce(o.name, "its file is a replica's, and it follows nobody here: it takes no writes until it is promoted")
	case h.Following:
	case from == "":
		if n.replicator != nil {
			_, err = db.BeginHistory(ctx)
		}
	case len(h.Lineage) > 0: // it was replicated from, or promoted
	case n.replicator.leads(o.name):
		_, err = db.BeginHistory(ctx)
	case told, db.Seq() == 0:
		err = db.Follow(ctx)
	default:
		o.unsettled.Store(true)
		n.logOnce(o.name, errUnsettled.Error())
	}
	if err == nil && from != "" && db.History().Following {
		n.replicator.followers.found(o.name, from)
	}
	return err
}

// logOnce tells the log about a tenant, once while the node runs.
func (n *Node) logOnce(name, text string) {
	if _, said := n.said.LoadOrStore(name+": "+text, true); !said {
		n.log().Printf("tenant %s: %s", name, text)
	}
}

// settled returns why a tenant that is not settled takes no writes.
func (n *Node) settled(id tenant.ID) error {
	if o, _ := n.open.of(id.String()); o != nil && o.unsettled.Load() {
		return fmt.Errorf("tenant %q: %w", id, errUnsettled)
	}
	return nil
}

// Follow makes a tenant a replica of the one of its name on the node at from, a URL
// http://host:port, or on Options.ReplicaOf if from is empty. It takes no writes from then
// on, and those that it has and its primary has not are lost. One that follows there already
// is left alone. A frozen tenant is tenant.ErrFrozen, unless thaw is to end the freeze: there
// is no moment then at which it takes writes.
func (n *Node) Follow(ctx context.Context, name, from string, thaw bool) error {
	if n.replicator == nil {
		return errNoToken
	}
	if from != "" {
		var err error
		if from, err = mirror.ParsePrimary(from); err != nil {
			return err
		}
	}
	return n.replicator.follow(ctx, name, from, thaw)
}

func (r *replicator) follow(ctx context.Context, name, from string, thaw bool) error {
	if from == "" && r.primary == "" {
		return errNowhere
	}
	unlock, err := r.lanes.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	at, err := r.node.tenants.Position(ctx, name)
	if err != nil {
		return err
	}
	switch does, err := r.does(name, from, at); {
	case err != nil:
		return err
	case at.Frozen && !thaw:
		return tenant.ErrFrozen
	case !does:
		r.followers.halt(name)
		err = r.demote(ctx, name, from)
		r.followers.reconsider(name)
		if err != nil {
			return err
		}
	}
	if at.Frozen {
		return r.node.tenants.Thaw(ctx, name)
	}
	return nil
}

// does reports whether a tenant follows already as it is to.
func (r *replicator) does(name, from string, at tenant.Position) (bool, error) {
	now, told, err := r.node.upstream(name)
	if err != nil || !at.History.Following {
		return false, err
	}
	return now == from && told || from == "" && !told, nil
}

// demote makes a tenant whose lane is held follow. Whom comes first: a crash leaves a
// primary.
func (r *replicator) demote(ctx context.Context, name, from string) error {
	var text []byte
	if from != "" {
		text = []byte(from + "\n")
	}
	if err := r.node.tenants.WriteBeside(ctx, name, tenant.FollowsFile, text); err != nil {
		return err
	}
	return r.withOpened(ctx, name, func(o *opened) error {
		if err := o.db.Follow(ctx); err != nil {
			return err
		}
		o.unsettled.Store(false)
		o.source.Restart("the database follows another one now")
		return nil
	})
}

// withOpened calls fn with what is kept of a tenant, which is open until fn has returned.
func (r *replicator) withOpened(ctx context.Context, name string, fn func(o *opened) error) error {
	_, release, err := r.node.copyOf(name).Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	o, _ := r.node.open.of(name)
	if o == nil {
		return tenant.ErrClosed
	}
	return fn(o)
}

// Promote makes a replica a primary: from when it returns it takes writes. It fails with
// fenec.ErrNotReplica for a tenant that is one, and, unless it is forced, with
// fenec.ErrIncomplete for a replica that never had all of its primary's writes.
func (n *Node) Promote(ctx context.Context, name string, force bool) (replication.History, error) {
	if n.replicator != nil {
		return n.replicator.promote(ctx, name, force)
	}
	// Nothing here follows or is followed, and no role is other than its file's.
	db, release, err := n.copyOf(name).Use(ctx)
	if err != nil {
		return replication.History{}, err
	}
	defer release()
	return db.Promote(ctx, force)
}

// promote ends a tenant's following and forks its history. A crash before the last step
// leaves a primary that the file beside it says nothing to.
func (r *replicator) promote(ctx context.Context, name string, force bool) (h replication.History, err error) {
	unlock, err := r.lanes.lock(ctx, name)
	if err != nil {
		return h, err
	}
	defer unlock()
	r.followers.halt(name)
	defer r.followers.reconsider(name)
	err = r.withOpened(ctx, name, func(o *opened) (err error) {
		h, err = o.db.Promote(ctx, force)
		if errors.Is(err, fenec.ErrNotReplica) && o.unsettled.Load() {
			h, err = o.db.BeginHistory(ctx)
		}
		if err != nil {
			return err
		}
		o.unsettled.Store(false)
		o.source.Restart("the database was promoted")
		return nil
	})
	if err != nil {
		return h, err
	}
	r.bell.Ring(name)
	return h, r.node.tenants.WriteBeside(context.WithoutCancel(ctx), name, tenant.FollowsFile, nil)
}
