package router

import (
	"errors"
	"fmt"
)

// Errors of the directory's changes: nothing was changed.
var (
	// ErrName is returned for a name that ValidName refuses.
	ErrName = errors.New("a name is 1 to 64 of a-z, 0-9, _ and -")
	// ErrNode is returned for a node whose address is not host:port, or whose
	// token cannot be sent in a header.
	ErrNode = errors.New("invalid address or token of a node")
	// ErrAttrs is returned for attributes that no node can have.
	ErrAttrs = errors.New("invalid attributes of a node")
	// ErrUnknownNode is returned when the directory has no such node.
	ErrUnknownNode = errors.New("unknown node")
	// ErrUnknownTenant is returned when the directory has no such tenant.
	ErrUnknownTenant = errors.New("unknown tenant")
	// ErrTenantExists is returned when a tenant is to be placed that has a
	// place already.
	ErrTenantExists = errors.New("tenant exists")
	// ErrNodeInUse is returned when a node is to be deleted that tenants are
	// placed on.
	ErrNodeInUse = errors.New("tenants are placed on the node")
	// ErrNodeChanged is returned when a node got another address while a
	// tenant was created at the one it had. Trying again helps.
	ErrNodeChanged = errors.New("the node's address has changed meanwhile")
	// ErrAlreadyThere is returned when a tenant is to be moved to the node it is on.
	ErrAlreadyThere = errors.New("the tenant is already")
	// ErrSameServer is returned when two nodes are one server.
	ErrSameServer = errors.New("it is the same server as another node")
	// ErrMoveBroken is returned when a move's source was writable before its flip.
	// Nothing is lost, and trying again may help.
	ErrMoveBroken = errors.New("the move is given up")
	// ErrInProgress is returned while another operation on the same tenant
	// runs. Trying again later helps.
	ErrInProgress = errors.New("another operation on the tenant is in progress")
)

// Errors of finding a tenant's file.
var (
	// ErrNoCopy is returned when the file of a tenant is on no node.
	ErrNoCopy = errors.New("there is no file of it")
	// ErrNoTrash is returned when no node has the tenant in its trash.
	ErrNoTrash = errors.New("it is in no trash")
	// ErrStray is returned for a copy that is to be cleared away.
	ErrStray = errors.New("its copy there is to be cleared away")
	// ErrNotLost is returned when a tenant is to be placed elsewhere by force, though its
	// node answers and has its file. A move, or a failover, is what places it elsewhere.
	ErrNotLost = errors.New("the tenant is there, so it is moved or failed over")
	// ErrNodesSilent is returned while it takes nodes to answer that do not. Naming the
	// node helps.
	ErrNodesSilent = errors.New("some nodes do not say whether they have it")
)

// Errors of copies that follow.
var (
	// ErrOwnStandby is returned when a node is to stand by itself.
	ErrOwnStandby = errors.New("a node cannot be its own standby")
	// ErrStandby is returned when a tenant is to be placed on a node that stands by
	// another, or moved there.
	ErrStandby = errors.New("it is the standby of another node")
	// ErrNoStandby is returned when there is nothing to fail a node over to, and no
	// replica on it either.
	ErrNoStandby = errors.New("it has no standby, and neither have its tenants replicas nor is one on it")
	// ErrNoReplica is returned for a tenant that no copy of can take over.
	ErrNoReplica = errors.New("no replica")
	// ErrIncomplete is returned for a copy that has not caught up with its tenant since
	// it was told to follow: all that it lacks would be lost. Whoever takes that into
	// account promotes it on its node, and tries again.
	ErrIncomplete = errors.New("its copy has not caught up yet")
	// ErrStale is returned for a copy that was out of touch with its tenant's node for
	// longer than that itself has been: it may lack what was acknowledged meanwhile. A
	// failover with force takes it all the same.
	ErrStale = errors.New("it may lack writes from before its primary was lost; with force it takes over all the same")
	// ErrNoOtherNode is returned when there is no node that may have a replica of a
	// tenant: all others are paired, dedicated or being drained.
	ErrNoOtherNode = errors.New("no other node")
)

// Errors of choosing a node for a tenant.
var (
	// ErrNoNodes is returned when the directory has no node at all.
	ErrNoNodes = errors.New("no node is recorded")
	// ErrNoneAnswers is returned when no node of the directory answers.
	ErrNoneAnswers = errors.New("no node answers")
	// ErrNoCapacity is returned when nodes answer and none of them may take
	// another tenant. Room on one of them helps, or one more node.
	ErrNoCapacity = errors.New("no node takes another tenant")
	// ErrDraining is returned when the node that was asked for is being drained.
	ErrDraining = errors.New("the node is being drained")
)

// Errors of leases.
var (
	// ErrLeaseRunning is returned when tenants are to be taken from a node that does not
	// answer and may write them until its lease has run out. Waiting for a term helps.
	ErrLeaseRunning = errors.New("it does not answer, and may write until its lease has run out")
	// ErrSuperseded is returned for every change once a node was told by another router
	// whose directory has taken the place of this one.
	ErrSuperseded = errors.New("another directory has taken the place of this one")
)

// Errors of replicated directories.
var (
	// ErrFollows is returned for every change of a directory that follows that of another
	// router. Promote ends that.
	ErrFollows = errors.New("the directory follows that of another router, the primary, which takes the changes")
	// ErrNeverReplicated is returned for a directory that is to follow though nobody ever
	// had a copy of what it holds, which would be lost. Another file helps.
	ErrNeverReplicated = errors.New("a directory that was never replicated cannot follow, as it would lose what it holds")
)

// ErrDirectory is returned when the directory's file refuses a change. The maps
// have not changed, but a change whose fsync failed may still be found in the
// file when it is opened again.
var ErrDirectory = errors.New("directory")

// ErrClosed is returned by Serve after Shutdown and by a directory after Close.
var ErrClosed = errors.New("closed")

// NodeError tells that a node did not do what it was asked to.
type NodeError struct {
	Node string
	// Status is what the node answered, 0 if it did not answer.
	Status int
	// Text is the error text of the node's answer, often empty.
	Text string
	// Err is why there is no answer.
	Err error
}

func (e *NodeError) Error() string {
	switch {
	case e.Status == 0 && e.Err != nil:
		return fmt.Sprintf("node %s did not answer: %v", e.Node, e.Err)
	case e.Status == 0:
		return fmt.Sprintf("node %s did not answer", e.Node)
	case e.Text == "":
		return fmt.Sprintf("node %s answered %d", e.Node, e.Status)
	}
	return fmt.Sprintf("node %s answered %d: %s", e.Node, e.Status, e.Text)
}

// Unwrap returns Err.
func (e *NodeError) Unwrap() error { return e.Err }
