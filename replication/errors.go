package replication

import "errors"

// ErrCorrupt is returned for bytes that are no message, no history or no grant,
// and for messages that come out of their order. The reader of a stream
// connects anew.
var ErrCorrupt = errors.New("replication: malformed")

// ErrUnfit is returned for a stream that does not go on from where the replica stands.
// The replica asks for an image.
var ErrUnfit = errors.New("the stream does not follow on what the replica holds")

// Errors that say why a node did not take a grant.
var (
	// ErrMismatch is returned for a grant that names a list or a nonce other than
	// the node's. The state beside it tells the node's own, and the grant may be
	// made again.
	ErrMismatch = errors.New("the node does not hold what the grant names")

	// ErrSuperseded is returned for a list out of a directory that another one has
	// taken the place of. Whoever sent it must stop changing things.
	ErrSuperseded = errors.New("a directory with a later history gives the grants now")

	// ErrUnfenced is returned by a node that writes without leases.
	ErrUnfenced = errors.New("the node takes no leases")
)

// Errors that say why a node may not write a tenant.
var (
	// ErrNoLease is returned before the first grant.
	ErrNoLease = errors.New("the node has no lease yet")

	// ErrLapsed is returned once the last grant's term is over.
	ErrLapsed = errors.New("the node's lease has lapsed")

	// ErrElsewhere is returned for a tenant that the lease does not name.
	ErrElsewhere = errors.New("another node holds the tenant's lease")
)

// Errors of failovers.
var (
	// ErrUnknownNode is returned for a node that was never placed on, or was
	// forgotten.
	ErrUnknownNode = errors.New("no such node")

	// ErrInProgress is returned beside a failover of the same node.
	ErrInProgress = errors.New("a failover of the node is in progress")
)
