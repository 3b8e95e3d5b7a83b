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
