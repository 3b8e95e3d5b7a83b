package replication

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFirstRoundGrants(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	require.Empty(t, c.perform(c.leases.Round(0)))
	require.NoError(t, c.admits("n1", "a"))
	require.ErrorIs(t, c.admits("n1", "b"), ErrElsewhere)
	require.NoError(t, c.admits("n2", "b"))
}

// A list is sent once, however long it stands, and renewals are short.
func TestListIsSentOnce(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(1)
	c.sent = nil
	require.Empty(t, c.rounds(100))
	require.Zero(t, c.lists())
	require.Len(t, c.sent, 3*2*100, "two grants a round: by the old nonce, and by the one just learned")

	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprintf("tenant%d", i)
	}
	l := NewLeases(0, LeaseOptions{Term: 5 * time.Second, Directory: Lineage{{1, 2}}})
	l.Place(0, "n1", many)
	f, rounds := NewFence(1<<64-9, Authority{}), 0
	for actions := l.Round(0); len(actions) > 0; rounds++ {
		s := actions[0].(Send)
		st, err := f.Grant(at(0), s.Grant)
		actions = l.Answered(0, s, st, err)
	}
	require.Equal(t, 2, rounds, "to learn the nonce and the list that it has, and to grant")
	s := l.Round(l.Interval())[0].(Send)
	text, err := json.Marshal(s.Grant)
	require.NoError(t, err)
	require.Less(t, len(text), 64, "%s", text)
}

func TestEpoch(t *testing.T) {
	require.Equal(t, "cbf29ce484222325", epochOf(nil, nil))
	require.Equal(t, "089bdc07b544e7b2", epochOf([]string{"a"}, nil), "FNV-1a of a line")
	require.NotEqual(t, epochOf([]string{"a", "b"}, nil), epochOf([]string{"ab"}, nil))
	one, two := Lineage{{1, 0}}, Lineage{{1, 0}, {2, 5}}
	require.NotEqual(t, epochOf([]string{"a"}, nil), epochOf([]string{"a"}, one))
	require.NotEqual(t, epochOf([]string{"a"}, one), epochOf([]string{"a"}, two))
}

func TestGrantAtOnce(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(1)
	c.leases.Place(c.now, "n1", []string{"new", "a"})
	require.ErrorIs(t, c.admits("n1", "new"), ErrElsewhere)
	require.Empty(t, c.perform(c.leases.Grant(c.now, "n1")))
	require.NoError(t, c.admits("n1", "new"))
	require.Empty(t, c.leases.Grant(c.now, "nobody"))
}

// A grant that has to wait for another's answer is sent as soon as that is there.
func TestGrantBesideAnother(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	first := c.leases.Grant(c.now, "n1")[0].(Send)
	c.leases.Place(c.now, "n1", []string{"new", "a"})
	require.Empty(t, c.leases.Grant(c.now, "n1"))
	require.Empty(t, c.perform([]Action{first}))
	require.NoError(t, c.admits("n1", "new"))
}

// A cut node stops within a term, and its tenants fail over a tenth of a term later
// at the earliest.
func TestCutNodeFailsOver(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(5)
	acked := c.now
	c.cut["n1"] = true
	c.now = acked + term - ms
	require.NoError(t, c.admits("n1", "a"))
	c.now = acked + term
	require.ErrorIs(t, c.admits("n1", "a"), ErrLapsed)

	c.now = acked
	require.Empty(t, c.rounds(3))
	require.Equal(t, []Action{FailOver{Node: "n1", Tenants: []string{"a"}, Lost: true}}, c.rounds(1))
	require.True(t, c.leases.Status("n1").Lost)
	require.NoError(t, c.admits("n2", "b"), "a silent node delays no other's grants")
	require.Empty(t, c.rounds(10), "one failover at a time")

	c.leases.Place(c.now, "n1", nil)
	c.leases.Place(c.now, "n2", []string{"a", "b"})
	require.Empty(t, c.perform(c.leases.FailedOver(c.now, "n1")))
	require.NoError(t, c.admits("n2", "a"), "granted at once")
	require.Empty(t, c.rounds(10), "what is lost and empty is not failed over again")

	c.cut["n1"] = false
	require.Equal(t, []Action{Repair{Node: "n1"}}, c.rounds(1))
	require.ErrorIs(t, c.admits("n1", "a"), ErrElsewhere)
	require.Empty(t, c.rounds(10), "repaired once")
	require.False(t, c.leases.Status("n1").Lost)
}

// What an automatic failover leaves behind is tried again each round, for as long
// as the node stays away.
func TestLeftBehindIsTriedAgain(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	c.cut["n1"] = true
	require.Len(t, c.rounds(4), 1)
	for range 3 {
		require.Empty(t, c.perform(c.leases.FailedOver(c.now, "n1")))
		require.Equal(t, []Action{FailOver{Node: "n1", Tenants: []string{"a"}, Lost: true, Again: true}}, c.rounds(1))
	}
	c.cut["n1"] = false
	require.Empty(t, c.rounds(2), "no repair beside a failover")
	require.ErrorIs(t, c.admits("n1", "a"), ErrElsewhere, "and no lease for what is failing over")
	require.Equal(t, []Action{Repair{Node: "n1"}}, c.perform(c.leases.FailedOver(c.now, "n1")))
	require.NoError(t, c.admits("n1", "a"), "what was left behind is the node's again")
}

// Grants that arrive and whose answers do not give a node no time beyond what its
// last answer stands for.
func TestLostAnswers(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	acked := c.now
	c.mute["n1"] = true
	failedOver := false
	for !failedOver {
		failedOver = len(c.rounds(1)) > 0
		require.Equal(t, c.now < acked+term, c.admits("n1", "a") == nil, "at %v", c.now-acked)
	}
	require.Greater(t, c.now, acked+term+term/10)
}

func TestRestartedNodeGetsItsList(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	c.fences["n1"] = NewFence(99, Authority{})
	require.ErrorIs(t, c.admits("n1", "a"), ErrNoLease)
	c.sent = nil
	require.Empty(t, c.rounds(1))
	require.NoError(t, c.admits("n1", "a"))
	require.Equal(t, 1, c.lists())
}

func TestNodeThatTakesNoLeases(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.fences["n1"] = nil
	c.rounds(1)
	require.True(t, c.leases.Status("n1").Refuses)
	c.cut["n1"] = true
	require.Empty(t, c.rounds(10))
	actions, err := c.leases.HandOver(c.now, "n1", []string{"a"}, false)
	require.NoError(t, err)
	require.Equal(t, []Action{FailOver{Node: "n1", Tenants: []string{"a"}}}, actions, "by hand it is")
}

// A lost node that comes back and takes leases no more is no longer lost.
func TestLostNodeComesBackUnfenced(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.cut["n1"] = true
	require.Len(t, c.rounds(4), 1)
	c.leases.Place(c.now, "n1", nil)
	c.perform(c.leases.FailedOver(c.now, "n1"))
	c.cut["n1"], c.fences["n1"] = false, nil
	require.Equal(t, []Action{Repair{Node: "n1"}}, c.rounds(1))
}

// A router that starts beside a dead node waits for what its predecessor may have
// granted.
func TestRestartedRouterWaits(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(3)
	c.cut["n1"] = true
	c.now += 10 * term
	c.restart(LeaseOptions{})
	require.Empty(t, c.perform(c.leases.Round(c.now)))
	require.NoError(t, c.admits("n2", "b"))
	require.Empty(t, c.rounds(3))
	require.Len(t, c.rounds(1), 1)
}

// One whose directory may lack changes grants nothing of its own for as long.
func TestPromotedRouterWaits(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(3)
	c.restart(LeaseOptions{Directory: Lineage{{1, 7}}, Behind: true})
	c.sent = nil
	require.Empty(t, c.perform(c.leases.Round(c.now)))
	require.Empty(t, c.rounds(3))
	require.Empty(t, c.sent)
	require.False(t, c.leases.Settled(c.now))
	require.Empty(t, c.rounds(1))
	require.True(t, c.leases.Settled(c.now))
	require.NoError(t, c.admits("n1", "a"))
}

// Of two routers that both run, the one that was promoted later goes on.
func TestSupersededRouterStops(t *testing.T) {
	c := newCluster(t, LeaseOptions{Directory: Lineage{{1, 7}}})
	c.rounds(3)
	old := c.leases
	c.restart(LeaseOptions{Directory: Lineage{{1, 7}, {2, 30}}})
	c.rounds(1)
	promoted := c.leases

	c.leases = old
	require.Empty(t, c.rounds(1))
	require.True(t, old.Superseded())
	c.sent = nil
	require.Empty(t, old.Round(c.now+10*term))
	require.Empty(t, c.perform(old.Grant(c.now, "n1")))
	require.Empty(t, c.sent)
	_, err := old.HandOver(c.now, "n1", []string{"a"}, true)
	require.ErrorIs(t, err, ErrSuperseded)
	require.Empty(t, old.FailedOver(c.now, "n1"))

	c.leases = promoted
	c.rounds(1)
	require.NoError(t, c.admits("n1", "a"))
	require.False(t, promoted.Superseded())
}

func TestLateAnswersDoNotCount(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	acked := c.now
	late := c.leases.Grant(c.now, "n1")[0].(Send)
	c.cut["n1"] = true
	c.rounds(1)
	require.Empty(t, c.leases.Answered(c.now, late, State{}, nil))
	require.Equal(t, acked, c.leases.Status("n1").Acked)
	require.Empty(t, c.leases.Answered(c.now, Send{Node: "n9"}, State{}, nil))
}

// A call that hangs since late in one round does not keep the next from granting.
func TestHangingCall(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	c.now += c.leases.Interval() / 2
	require.Len(t, c.leases.Grant(c.now, "n1"), 1)
	c.now += c.leases.Interval() / 2
	require.Empty(t, c.perform(c.leases.Round(c.now)))
	require.Equal(t, c.now, c.leases.Status("n1").Acked)
}

// A failed call is silence, and does not keep the next grant waiting.
func TestFailedCall(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	acked := c.now
	s := c.leases.Grant(c.now, "n1")[0].(Send)
	c.now += ms
	require.Empty(t, c.leases.Answered(c.now, s, State{}, errors.New("connection refused")))
	require.Equal(t, acked, c.leases.Status("n1").Acked)
	require.Len(t, c.leases.Grant(c.now, "n1"), 1)
}

// A node whose answers have no nonces counts its term from each grant.
func TestNodeWithoutNonces(t *testing.T) {
	l := NewLeases(0, LeaseOptions{Term: term})
	l.Place(0, "n1", []string{"a"})
	s := l.Round(0)[0].(Send)
	again := l.Answered(1, s, State{}, ErrMismatch)[0].(Send)
	require.Equal(t, []string{"a"}, again.Grant.Primaries)
	require.Empty(t, l.Answered(2, again, State{Epoch: &again.Grant.Epoch}, nil))
	renewal := l.Round(l.Interval())[0].(Send)
	require.Nil(t, renewal.Grant.Primaries)
}

// A node that never holds what it is granted is asked a few times a round.
func TestRoundHasAnEnd(t *testing.T) {
	l := NewLeases(0, LeaseOptions{Term: term})
	l.Place(0, "n1", []string{"a"})
	actions, n := l.Round(0), 0
	for ; len(actions) > 0; n++ {
		actions = l.Answered(0, actions[0].(Send), State{Nonce: "x"}, ErrMismatch)
	}
	require.Equal(t, maxTries, n)
}

func TestForget(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(1)
	s := c.leases.Grant(c.now, "n1")[0].(Send)
	c.leases.Forget("n1")
	require.Empty(t, c.leases.Answered(c.now, s, State{}, nil))
	require.Zero(t, c.leases.Status("n1"))
	c.sent = nil
	c.rounds(1)
	require.NotContains(t, fmt.Sprint(c.sent), "n1")
}
