package mirror

import "github.com/fenec-go/fenecdb/replication"

// Status is what GET status tells of a database.
type Status struct {
	Role    string         `json:"role"` // primary or replica
	Seq     uint64         `json:"seq"`  // of the last write
	History replication.ID `json:"history"`

	// Incomplete says that it has not caught up since it began to follow.
	Incomplete bool `json:"incomplete,omitempty"`

	*Feeding       // nil without a feed
	*ReplicaStatus // nil without a follower
}

// Feeding tells of the replicas of a database.
type Feeding struct {
	Durable  uint64 `json:"durable"` // the last write on disk
	Replicas []Peer `json:"replicas"`
}

// ReplicaStatus tells of a follower.
type ReplicaStatus struct {
	Primary        string `json:"primary"` // base URL
	Connected      bool   `json:"connected"`
	PrimaryDurable uint64 `json:"primary_durable"` // the last write on the primary's disk, as far as is known
	Behind         uint64 `json:"behind"`          // numbers until then
	LastContactMs  int64  `json:"last_contact_ms"` // since the primary was last heard of; -1 for never
	LagMs          int64  `json:"lag_ms"`          // since it is known to have had all that was on the primary's disk; -1 for never
	Images         uint64 `json:"images"`          // taken
	Reconnects     uint64 `json:"reconnects"`
	Diverged       uint64 `json:"diverged"` // how often it was found not to hold what the primary does
	Error          string `json:"error,omitempty"`
}

// Status tells how replication stands.
func (s *Source) Status() Status {
	h := s.db.History()
	out := Status{Role: "primary", Seq: s.db.LastWrite(), History: h.Lineage.Current(), Incomplete: h.Incomplete}
	if h.Following {
		out.Role = "replica"
	}
	if s.feeds {
		out.Feeding = &Feeding{durable(s.db, out.Seq), s.Peers()}
	}
	if s.opts.Following != nil {
		if r, ok := s.opts.Following(); ok {
			out.ReplicaStatus = &r
		}
	}
	return out
}
