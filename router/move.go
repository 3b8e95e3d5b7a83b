package router

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/quota"
)

// Moved is what a move has done.
type Moved struct {
	Tenant string `json:"tenant"`
	From   string `json:"from"`
	To     string `json:"to"`
	Bytes  int64  `json:"bytes"` // of the image
	MS     int64  `json:"ms"`    // that the move took
	// SourceRemoved tells that the node it came from has no copy any more. If it is
	// false, the copy is recorded and removed later.
	SourceRemoved bool `json:"source_removed"`
	// ReplicaOn is the node that has the tenant's replica, and Unreplicated why there is
	// none, of a tenant that had one or is to have one.
	ReplicaOn    string `json:"replica_on,omitempty"`
	Unreplicated string `json:"unreplicated,omitempty"`
}

const (
	// freezeFor is how long a freeze lasts by itself. It is renewed while the router
	// works, so that one whose router has died does not last.
	freezeFor = 30 * time.Second
	// renewEvery is how often.
	renewEvery = freezeFor / 3
	// flipFor is how long the freeze before the flip lasts, far longer than a flip takes.
	// It has an end in case that it reaches the node when nobody waits for it any more.
	flipFor = 5 * time.Minute
)

// Move moves a tenant to the node of that name, and returns once the tenant is served
// by that node, or is back where it was. Reads go on meanwhile; writes wait in the router
// for [Options.Hold] at most, and are refused after that until the move is over. It
// fails with ErrUnknownTenant, ErrUnknownNode, ErrAlreadyThere, ErrInProgress,
// ErrMoveBroken, ErrDirectory, or with the *NodeError of a node that did not do its
// part. When ctx ends before the tenant is placed on the other node, it stays.
func (rt *Router) Move(ctx context.Context, tenant, to string) (Moved, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(rt.reconciler.ctx, func() { end(ErrClosed) })()
	return rt.mover.move(ctx, tenant, to)
}

// postMove answers POST /_shard/tenants/<tenant>/move.
func (rt *Router) postMove(ctx context.Context, r *http.Request, name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	var to string
	if err := readMembers(r, members{"to": textTo(&to)}); err != nil {
		return answer{}, err
	}
	if to == "" {
		return answer{}, refusing(http.StatusBadRequest, "\"to\" is required: the node to move to")
	}
	moved, err := rt.Move(ctx, name, to)
	if err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	return answer{http.StatusOK, moved}, nil
}

// initMoves makes what moves tenants and what ends that later.
func (rt *Router) initMoves() {
	rt.initCopier()
	m := &mover{
		directory: rt.directory, admin: rt.admin, copier: rt.copier, leasing: rt.leasing, logf: rt.logf, counted: rt.metrics.moved,
		running: make(chan struct{}, rt.opts.Moves), step: rt.opts.step,
	}
	m.reconciler = newReconciler(rt.directory, m, rt.logf)
	m.reconciler.quotas, m.reconciler.sendQuota = rt.unsentQuotas, rt.sendQuota
	rt.mover, rt.reconciler = m, m.reconciler
}

// mover moves tenants between nodes.
//
// A move is recorded before it does anything, and takes effect by one change of the
// directory, the flip. Whatever it has come to before the flip is undone by removing
// the target's copy and thawing the source; what is left after it is a copy on the
// source, which the flip records as a stray. So these two records are all that a router
// needs to take a move up again that another has left.
type mover struct {
	directory  *Directory
	admin      *admin
	copier     *copier
	leasing    *leasing // nil where nodes write without leases
	reconciler *reconciler
	running    chan struct{} // one element for each move that runs
	logf       func(string, ...any)
	counted    func(moveOutcome, time.Duration)
	step       func(name string) // told what comes next

	mu    sync.Mutex // guards moves
	moves map[*transit]context.CancelCauseFunc
}

// move moves a tenant to the node of that name. It returns once the tenant is served
// by that node, or is back where it was.
func (m *mover) move(ctx context.Context, tenant, to string) (Moved, error) {
	release, err := m.directory.Claim(tenant)
	if err != nil {
		return Moved{}, err
	}
	defer release()
	x, err := m.plan(tenant, to)
	if err != nil {
		return Moved{}, err
	}
	select {
	case m.running <- struct{}{}:
		defer func() { <-m.running }()
	case <-ctx.Done():
		return Moved{}, context.Cause(ctx)
	}
	begun := time.Now()
	m.step("begin")
	if err := m.directory.beginMove(tenant, to); err != nil {
		return Moved{}, err
	}
	moving, done := m.endable(ctx, x)
	defer done()
	moved, err := x.run(moving)
	took := time.Since(begun)
	outcome := moveDone
	if err != nil {
		outcome = moveFailed
	}
	m.counted(outcome, took)
	moved.MS = took.Milliseconds()
	if err == nil {
		m.clearOthers(tenant, moved.From)
		done := m.copier.completeNow(m.reconciler.ctx, tenant, copying{were: true, need: x.replicated})
		moved.ReplicaOn, moved.Unreplicated = done.on, textOf(done.missing)
	}
	return moved, err
}

// clearOthers removes the copies that a move has left elsewhere than on its source, which
// is that on the standby of the source. What fails is done later.
func (m *mover) clearOthers(tenant, source string) {
	for _, s := range m.directory.Strays() {
		if s.Tenant != tenant || s.Node == source {
			continue
		}
		err := m.copier.briefly(m.reconciler.ctx, func(ctx context.Context) error { return m.clearStray(ctx, s) })
		if err != nil {
			m.logf("tenant %s: removing the copy on node %s: %v", tenant, s.Node, err)
			m.reconciler.kick()
		}
	}
}

// plan checks that the tenant can move.
func (m *mover) plan(tenant, to string) (*transit, error) {
	if !ValidName(to) {
		return nil, ErrName
	}
	at, ok := m.directory.Tenant(tenant)
	if !ok {
		return nil, ErrUnknownTenant
	}
	if at.State == StateMoving {
		return nil, ErrInProgress // the reconciler has it next
	}
	target, ok := m.directory.Node(to)
	if !ok {
		return nil, fmt.Errorf("node %s: %w", to, ErrUnknownNode)
	}
	if at.Node == to {
		return nil, fmt.Errorf("%w on node %s", ErrAlreadyThere, to)
	}
	if m.directory.Attrs(to).Draining {
		return nil, fmt.Errorf("node %s: %w", to, ErrDraining)
	}
	if m.directory.IsStandby(to) {
		return nil, fmt.Errorf("node %s: %w", to, ErrStandby)
	}
	source, _ := m.directory.Node(at.Node)
	return &transit{mover: m, tenant: tenant, from: source, to: target, replicated: len(at.Replicas) > 0}, nil
}

// transit is one move under way.
type transit struct {
	*mover
	tenant   string
	from, to Node
	frozen   standing // how the source stands since
	// replicated tells that the tenant has a replica.
	replicated bool
	// copied tells that the target may have a copy.
	copied bool
	// checked is when the source was frozen for the flip; zero before that.
	checked time.Time
}

func (x *transit) run(ctx context.Context) (Moved, error) {
	release := x.directory.hold(x.tenant)
	defer release()
	bytes, err := x.copy(ctx)
	if err != nil {
		return Moved{}, x.backOut(ctx, err)
	}
	over, err := x.leasing.handOver(ctx, x.from.Name, []string{x.tenant}, false)
	if err != nil {
		return Moved{}, x.backOut(ctx, err)
	}
	defer over()
	x.step("flip")
	if time.Since(x.checked) > flipFor/2 {
		return Moved{}, x.backOut(ctx, fmt.Errorf("%w: the router stood still before the flip", ErrMoveBroken))
	}
	if err := x.directory.flip(x.tenant, x.to, x.frozen.Seq); err != nil {
		return Moved{}, x.backOutOfFlip(ctx, err)
	}
	over()
	x.leasing.granted(ctx, x.tenant, x.to.Name) // held writes are taken there then
	release()
	x.step("remove")
	return Moved{
		Tenant: x.tenant, From: x.from.Name, To: x.to.Name, Bytes: bytes,
		SourceRemoved: x.removeSource(context.WithoutCancel(ctx)),
	}, nil
}

// copy freezes the source and brings its copy to the target. When it returns, the
// source is frozen for the flip, and has not changed since its image was taken.
func (x *transit) copy(ctx context.Context) (bytes int64, err error) {
	x.step("freeze")
	x.frozen, err = x.admin.freeze(ctx, x.from, x.tenant, freezeFor)
	if err != nil {
		return 0, err
	}
	target, err := x.admin.stats(ctx, x.to)
	if err != nil {
		return 0, err
	}
	if target.Boot != "" && target.Boot == x.frozen.Boot {
		return 0, fmt.Errorf("%w: nodes %s and %s", ErrSameServer, x.from.Name, x.to.Name)
	}
	if err := x.directory.frozenAt(x.tenant, x.frozen.Seq); err != nil {
		return 0, err
	}
	work, fail := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		x.renew(work, fail)
	}()
	bytes, err = x.fill(work)
	fail(nil)
	<-renewed
	if err != nil {
		return 0, err
	}
	x.step("check")
	x.directory.seal(x.tenant)
	x.checked = time.Now()
	return bytes, x.freezeAgain(ctx, flipFor)
}

// freezeAgain freezes the source again, which must have been frozen all the time.
func (x *transit) freezeAgain(ctx context.Context, d time.Duration) error {
	now, err := x.admin.freeze(ctx, x.from, x.tenant, d)
	if err == nil && (now.Boot != x.frozen.Boot || now.Seq != x.frozen.Seq) {
		return fmt.Errorf("%w: node %s has taken writes or was restarted meanwhile", ErrMoveBroken, x.from.Name)
	}
	return err
}

// renew renews the freeze until ctx ends, and ends the work when it turns out that it
// was broken.
func (x *transit) renew(ctx context.Context, fail context.CancelCauseFunc) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// No answer is asked for again; the check before the flip is what counts.
		if err := x.freezeAgain(ctx, freezeFor); errors.Is(err, ErrMoveBroken) {
			fail(err)
			return
		}
	}
}

// fill makes the target's copy, with its quota.
func (x *transit) fill(ctx context.Context) (bytes int64, err error) {
	x.step("install")
	if err := x.clearTarget(ctx); err != nil {
		return 0, err
	}
	x.copied = true
	bytes, err = x.admin.transfer(ctx, x.from, x.to, x.tenant)
	var node *NodeError
	if errors.As(err, &node) && node.Node == x.to.Name && node.Status == http.StatusConflict {
		// A copy that nobody knows of. It goes to the trash, in case that somebody does.
		if err := x.admin.remove(ctx, x.to, x.tenant); err != nil && !isGone(err) {
			return 0, err
		}
		bytes, err = x.admin.transfer(ctx, x.from, x.to, x.tenant)
	}
	if err != nil {
		return 0, err
	}
	x.step("quota")
	if limits := x.directory.Quota(x.tenant); limits != (quota.Limits{}) {
		return bytes, x.admin.setQuota(ctx, x.to, x.tenant, limits)
	}
	return bytes, nil
}

// clearTarget removes what an earlier move has left on the target.
func (x *transit) clearTarget(ctx context.Context) error {
	stray := Stray{Tenant: x.tenant, Node: x.to.Name}
	if !x.directory.isStray(stray) {
		return nil
	}
	if err := x.admin.purge(ctx, x.to, x.tenant); err != nil && !isGone(err) {
		return err
	}
	return x.directory.dropStray(stray)
}

// backOut undoes what was done before the flip, and returns why.
func (x *transit) backOut(ctx context.Context, why error) error {
	if errors.Is(context.Cause(ctx), errNodeLost) {
		x.reconciler.kick() // should the failover fail
		return errNodeLost
	}
	x.step("back out")
	ctx = context.WithoutCancel(ctx)
	var left *Stray
	if x.copied && !x.uncopy(ctx) {
		left = &Stray{x.tenant, x.to.Name, x.frozen.Seq}
	}
	err := x.admin.thaw(ctx, x.from, x.tenant)
	if err != nil {
		x.logf("tenant %s: thawing it after a move that failed: %v", x.tenant, err)
	}
	if err != nil && !x.checked.IsZero() && !isGone(err) {
		x.reconciler.kick() // which sees that the move is unfinished
		return why
	}
	if err := x.directory.endMove(x.tenant, left); err != nil {
		x.logf("tenant %s: recording the end of a move that failed: %v", x.tenant, err)
	}
	x.reconciler.kick()
	return why
}

// backOutOfFlip undoes a move whose flip was refused. It may stand in the file all the
// same, so the source takes no write before the target's copy is known to be gone: a
// router that opens the file then finds that the source has the only one.
func (x *transit) backOutOfFlip(ctx context.Context, why error) error {
	if !x.uncopy(context.WithoutCancel(ctx)) {
		x.reconciler.kick()
		return why
	}
	x.copied = false
	return x.backOut(ctx, why)
}

// uncopy removes the target's copy and reports whether there is none any more.
func (x *transit) uncopy(ctx context.Context) bool {
	err := x.admin.purge(ctx, x.to, x.tenant)
	if err == nil || isGone(err) {
		return true
	}
	x.logf("tenant %s: removing the copy of a move that failed: %v", x.tenant, err)
	return false
}

// removeSource removes the copy that the move has left. What fails is done later.
func (x *transit) removeSource(ctx context.Context) bool {
	stray := Stray{x.tenant, x.from.Name, x.frozen.Seq}
	err := x.clearStray(ctx, stray)
	if err != nil {
		x.logf("tenant %s: removing the copy that a move has left: %v", x.tenant, err)
		x.reconciler.kick()
	}
	return err == nil
}
