package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// resume brings a move to its end that a router has left before the flip, as far as the
// directory knows: it is backed out, unless it shows that the flip had happened, which
// an older copy of the directory does not know. It fails, with nothing changed, when a
// node does not answer: silence is not absence.
func (m *mover) resume(ctx context.Context, tenant string) error {
	release, err := m.directory.Claim(tenant)
	if err != nil {
		return err
	}
	defer release()
	t, ok := m.directory.Tenant(tenant)
	if !ok || t.State != StateMoving {
		return nil
	}
	m.step("resume")
	defer m.directory.hold(tenant)()
	source, _ := m.directory.Node(t.Node)
	here, isHere, err := m.frozen(ctx, source, tenant)
	if err != nil {
		return err
	}
	if t.Move == nil {
		return m.settle(ctx, tenant, source)
	}
	target, _ := m.directory.Node(t.Move.To) // which is in use, and so known
	there, isThere, err := m.frozen(ctx, target, tenant)
	switch {
	case err != nil:
		return err
	case isHere && isThere && here.Boot == there.Boot:
		m.logf("tenant %s: nodes %s and %s are the same server", tenant, source.Name, target.Name)
		return m.settle(ctx, tenant, source)
	case !isHere && !isThere:
		return fmt.Errorf("neither node %s nor node %s has it", source.Name, target.Name)
	case !isHere, isThere && here.Seq == t.Move.Seq && there.Seq > here.Seq:
		m.logf("tenant %s: its move to node %s had happened", tenant, target.Name)
		return m.moveOver(ctx, tenant, target, here.Seq)
	case isThere && t.Move.Seq > 0:
		// To the trash: should this directory be older than it seems, nothing is lost.
		if err := m.admin.remove(ctx, target, tenant); err != nil && !isGone(err) {
			return err
		}
	case isThere: // a replica that was to make room
		if err := m.admin.thaw(ctx, target, tenant); err != nil && !isGone(err) {
			return err
		}
	}
	m.logf("tenant %s: its move to node %s is backed out", tenant, target.Name)
	return m.settle(ctx, tenant, source)
}

// settle ends a move on the source, which has the only copy.
func (m *mover) settle(ctx context.Context, tenant string, source Node) error {
	m.step("settle")
	if err := m.admin.thaw(ctx, source, tenant); err != nil && !isGone(err) {
		return err
	}
	return m.directory.endMove(tenant, nil)
}

// moveOver places the tenant on the node that turned out to have it. The copy elsewhere
// is at the sequence seq, if there is one.
func (m *mover) moveOver(ctx context.Context, tenant string, to Node, seq uint64) error {
	at, ok := m.directory.Tenant(tenant)
	if !ok {
		return ErrUnknownTenant
	}
	over, err := m.leasing.handOver(ctx, at.Node, []string{tenant}, false)
	if err != nil {
		return err
	}
	defer over()
	if err := m.directory.flip(tenant, to, seq); err != nil {
		return err
	}
	// What was a copy on a standby, or a replica, follows nobody that there is any more.
	if err := m.admin.promote(ctx, to, tenant, false); err != nil && !isRefusal(err) {
		return err
	}
	return m.admin.thaw(ctx, to, tenant)
}

// lookFor is how long a tenant is frozen while it is looked at.
const lookFor = 5 * time.Second

// frozen freezes the tenant on the node for a moment and returns how it stands there, if
// it is there.
func (m *mover) frozen(ctx context.Context, n Node, tenant string) (s standing, there bool, err error) {
	s, err = m.admin.freeze(ctx, n, tenant, lookFor)
	if isGone(err) {
		return standing{}, false, nil
	}
	return s, err == nil, err
}

// errNewer is returned for a stray that has gone on since it was left.
var errNewer = errors.New("it has more in it than when it was left, and is left alone")

// clear removes a stray, as clearStray does, unless another operation on the tenant runs.
func (m *mover) clear(ctx context.Context, s Stray) error {
	release, err := m.directory.Claim(s.Tenant)
	if err != nil {
		return err
	}
	defer release()
	if !m.directory.isStray(s) {
		return nil
	}
	return m.clearStray(ctx, s)
}

// clearStray removes a stray, unless it has gone on since it was left, or is the only
// copy of its tenant, which is then placed where it is. It fails, with nothing changed,
// when a node does not answer. The tenant is claimed.
func (m *mover) clearStray(ctx context.Context, s Stray) error {
	on, ok := m.directory.Node(s.Node)
	if !ok {
		return m.directory.dropStray(s)
	}
	m.step("clear")
	remove := m.admin.remove // to the trash: nobody else has it, as far as this directory knows
	stray, isThere, err := m.frozen(ctx, on, s.Tenant)
	switch {
	case err != nil:
		return err
	case !isThere:
		return m.directory.dropStray(s)
	}
	if at, ok := m.directory.find([]byte(s.Tenant)); ok {
		remove = m.admin.purge
		served, err := m.admin.standing(ctx, *at.on.node.Load(), s.Tenant)
		switch {
		case isGone(err):
			m.logf("tenant %s: only node %s has it", s.Tenant, s.Node)
			return m.moveOver(ctx, s.Tenant, on, 0)
		case err != nil:
			return err
		case served.Boot == stray.Boot:
			m.logf("tenant %s: nodes %s and %s are the same server", s.Tenant, s.Node, at.on.name())
			return cmp.Or(m.admin.thaw(ctx, on, s.Tenant), m.directory.dropStray(s))
		case s.Seq > 0 && stray.Seq != s.Seq, s.Seq == 0 && stray.Seq > served.Seq:
			return errNewer
		}
	}
	m.step("purge")
	if err := remove(ctx, on, s.Tenant); err != nil && !isGone(err) {
		return err
	}
	m.step("forget")
	return m.directory.dropStray(s)
}
