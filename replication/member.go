package replication

import (
	"maps"
	"slices"
	"time"
)

// A round of grants to one node ends once it has taken a grant with a nonce that
// was learned in that round, which is its second; a third and a fourth are for
// nonces and lists that something else has changed meanwhile.
const (
	enoughTries = 2
	maxTries    = 4
)

// stage is how far a node's failover has come.
type stage int

const (
	settled   stage = iota // there is none
	releasing              // the node may still write the withheld tenants
	moving                 // it no longer does: they are being promoted elsewhere
)

// member is what a router knows of one node.
//
// Why a lapsed node has stopped: each nonce that was sent to it came in an answer
// that was received at acked or before, and was given by the node before that. So
// every grant on its way, however late it arrives and even if its answer is lost,
// begins a term before acked.
type member struct {
	name   string
	placed []string // by the directory, in no order

	list  []string // to be granted, sorted: placed without the withheld
	epoch string   // of list; empty when both are to be made anew

	nonce string // the node's, as of its last answer
	held  string // the epoch of the list it is known to hold, or empty
	acked time.Duration

	flight uint64        // id of the Send that is waited for, or 0
	sent   time.Duration // when it was made
	tries  int           // Sends in this round

	lost     bool
	refuses  bool
	repair   bool // whether a Repair is due once the failover is over
	retrying bool // whether the failover is for what an earlier one left behind

	stage    stage
	withheld map[string]struct{} // the tenants that are failing over
	freeAt   time.Duration       // when the node has stopped writing them at the latest
}

// send makes the grant that m needs now. Only one is under way at a time, for each
// makes the other's nonce stale; the answer to that one begins the next, as long as
// the round has not had enough.
func (l *Leases) send(now time.Duration, m *member) []Action {
	if now < l.quiet {
		return nil
	}
	underWay := m.flight != 0 && now-m.sent < l.Interval()
	if underWay || m.tries == maxTries {
		return nil
	}
	g := Grant{MS: l.term.Milliseconds(), Epoch: l.epoch(m), Nonce: m.nonce}
	if m.held != g.Epoch {
		g.Primaries, g.History, g.Forks = m.list, l.directory.Current(), len(l.directory)
	}
	l.sends++
	m.flight, m.sent = l.sends, now
	m.tries++
	return []Action{Send{Node: m.name, Grant: g, id: m.flight}}
}

// epoch names the list of m.
func (l *Leases) epoch(m *member) string {
	if m.epoch == "" {
		m.list = make([]string, 0, len(m.placed))
		for _, t := range m.placed {
			if _, ok := m.withheld[t]; !ok {
				m.list = append(m.list, t)
			}
		}
		slices.Sort(m.list)
		m.epoch = epochOf(m.list, l.directory)
	}
	return m.epoch
}

// learn notes an answer that came at now.
func (m *member) learn(now time.Duration, st State) {
	m.acked, m.refuses, m.held = now, false, ""
	if st.Epoch != nil {
		m.held = *st.Epoch
	}
	if st.Nonce != "" {
		m.nonce = st.Nonce
	}
}

// withhold takes tenants out of the list of m.
func (m *member) withhold(tenants []string) {
	m.stage, m.epoch = releasing, ""
	m.withheld = make(map[string]struct{}, len(tenants))
	for _, t := range tenants {
		m.withheld[t] = struct{}{}
	}
}

// released goes on with a failover that waited for m to stop writing.
func (m *member) released() []Action {
	if m.stage != releasing {
		return nil
	}
	m.stage = moving
	tenants := slices.Sorted(maps.Keys(m.withheld))
	return []Action{FailOver{Node: m.name, Tenants: tenants, Lost: m.lost, Again: m.retrying}}
}

// back notes that m is no longer lost.
func (m *member) back() []Action {
	m.repair = m.repair || m.lost
	m.lost, m.retrying = false, false
	return m.repaired()
}

// repaired asks for the repair that is due, but not beside a failover, which would
// hide from it the tenants that are still to be promoted.
func (m *member) repaired() []Action {
	if !m.repair || m.stage != settled {
		return nil
	}
	m.repair = false
	return []Action{Repair{Node: m.name}}
}
