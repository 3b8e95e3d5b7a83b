package router

import (
	"encoding/json"
	"fmt"

	"github.com/fenec-go/fenecdb/tenant"
)

// Node is a server that holds tenants.
type Node struct {
	Name string
	// Addr is host:port.
	Addr string
	// Token is the node's admin token.
	Token Token
}

// Role says which tenants a node takes.
type Role string

// The roles.
const (
	// RoleShared is a node that new tenants are placed on. It is the default.
	RoleShared Role = "shared"
	// RoleDedicated is a node that takes only the tenants that name it.
	RoleDedicated Role = "dedicated"
)

// Attrs are what the placing of tenants goes by, beside what a node says of itself.
type Attrs struct {
	Role       Role
	MaxTenants int               // how many tenants are placed on it; 0 is no limit
	MaxBytes   int64             // how many bytes its files take up when the last tenant is placed there; 0 is no limit
	Labels     map[string]string // for a Placer of one's own
	Draining   bool              // its tenants are moved off, and no new ones are placed on it
}

func (a Attrs) validate() error {
	switch {
	case a.Role != "" && a.Role != RoleShared && a.Role != RoleDedicated:
		return fmt.Errorf("%w: the role is %q or %q, not %q", ErrAttrs, RoleShared, RoleDedicated, a.Role)
	case a.MaxTenants < 0 || a.MaxBytes < 0:
		return fmt.Errorf("%w: a limit is negative", ErrAttrs)
	}
	return nil
}

// State says whether a tenant is at rest.
type State string

// The states. Any other text in the file reads as StateActive.
const (
	StateActive State = "active"
	// StateMoving is a tenant whose move has not come to an end. It is served by
	// the node it is placed on.
	StateMoving State = "moving"
)

// Tenant says where a tenant is.
type Tenant struct {
	Name, Node string
	State      State
	// Status says whether the tenant is served at all.
	Status tenant.Status
	// Epoch grows by one each time the tenant is placed, also under a name that was
	// used before.
	Epoch int64
	// Move is the unfinished move of a tenant in StateMoving. It is nil at rest, and
	// where the file does not say.
	Move *Move
	// Replicas are the nodes that have a copy of the tenant's own that follows, by name.
	// The one on the standby of its node is not among them.
	Replicas []string
	// noticed tells that it is a router that found the tenant degraded, by what its
	// node has said, and nobody's decision.
	noticed bool
}

// Move is a move that has not come to its flip.
type Move struct {
	To string // the node
	// Seq is the sequence at which the source was frozen, 0 before it was. Until then
	// the move has nothing on the target.
	Seq uint64
	// Replica tells that the target had a replica, which has made room.
	Replica bool
}

// Stray is a copy of a tenant on a node where the tenant no longer is, or never came
// to be. It is to be cleared away.
type Stray struct {
	Tenant, Node string
	// Seq is the sequence at which the copy was left, 0 if that is not known. One that
	// has gone on since is not cleared away.
	Seq uint64
}

// is reports whether other is about the same copy.
func (s Stray) is(other Stray) bool { return s.Tenant == other.Tenant && s.Node == other.Node }

// phaseCopying is the phase of a move until its flip. There is no other in the file:
// whatever a move has come to before its flip is undone in the same way, and after it
// only strays are left.
const phaseCopying = "copying"

// moveDetail is how the file keeps a move.
type moveDetail struct {
	To      string `json:"to"`
	Seq     uint64 `json:"seq,omitempty"`
	Replica bool   `json:"replica,omitempty"`
}

func encodeMove(m *Move) (phase, detail string, err error) {
	if m == nil {
		return "", "", nil
	}
	text, err := json.Marshal(moveDetail(*m))
	return phaseCopying, string(text), err
}

func decodeMove(phase, detail string) (*Move, error) {
	switch phase {
	case "":
		return nil, nil
	case phaseCopying:
		var d moveDetail
		err := json.Unmarshal([]byte(detail), &d)
		return (*Move)(&d), err
	}
	return nil, fmt.Errorf("unknown phase %q", phase)
}

// place is where a tenant is, as look-ups read it. It never changes: a change puts
// another one in its stead.
type place struct {
	on      *slot
	state   State
	status  tenant.Status
	epoch   int64
	move    *Move
	noticed bool
	spares  []spare // by node; never changed
	// gate is there between the freeze of a move and its end, and is closed then:
	// writes wait for it.
	gate chan struct{}
	// sealed tells that the source is asked to write nothing, whatever has become of its
	// freeze: its image is about to become the tenant.
	sealed bool
}

func (p *place) tenant(name string) Tenant {
	return Tenant{name, p.on.name(), p.state, p.status, p.epoch, p.move, p.sparesThat(spareFollows), p.noticed}
}

// with returns a copy of the place that differs in what change does to it.
func (p *place) with(change func(*place)) *place {
	next := *p
	change(&next)
	return &next
}
