//go:build unix

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/stretchr/testify/require"
)

// judge looks at everything once the writing has ended and all is well.
func (l *procLoad) judge() {
	l.c.t.Helper()
	sum := procVerdict{}
	for _, tl := range l.all {
		sum.add(tl.judge(l))
	}
	l.leave()
	l.listening.Wait()
	l.check()
	l.c.t.Logf("%d failovers, of them %d of nodes that nothing was done to; %v", l.c.failovers(), l.c.surprises, l.c.rounds)
	l.c.t.Logf("%+v", sum)
}

// procVerdict counts what was seen.
type procVerdict struct {
	Routed, Direct int // writes that were answered as done, through the router and past it
	Excused        int // of the first, those that are lost as a node that was well was failed over
	LostDirect     int // of the second, those that are lost: they were made on a node that was cut off
	Unanswered     int // rows that are there though their writes were refused or not answered
	Late           int // answers that came after another node had begun to write
	Told           int // rows that subscribers were told of
	Seeds          int // that they got beside the first
	Unwritten      int // rows that they were told of and that are lost, as their writes were not answered
}

func (v *procVerdict) add(w procVerdict) {
	v.Routed += w.Routed
	v.Direct += w.Direct
	v.Excused += w.Excused
	v.LostDirect += w.LostDirect
	v.Unanswered += w.Unanswered
	v.Late += w.Late
	v.Told += w.Told
	v.Seeds += w.Seeds
	v.Unwritten += w.Unwritten
}

func (l *tenantLoad) judge(of *procLoad) (v procVerdict) {
	t := l.c.t
	t.Helper()
	rows := l.rows()
	known := map[int]bool{}
	l.mu.Lock()
	acked := slices.Clone(l.acked)
	l.mu.Unlock()
	for _, a := range acked {
		known[a.n] = true
		switch {
		case a.node != "":
			v.Direct++
			if !rows[a.n] {
				v.LostDirect++
			}
		case rows[a.n]:
			v.Routed++
		case of.excuses(a):
			v.Routed++
			v.Excused++
		default:
			require.Fail(t, "a write that was answered is lost", "%s: %+v", l.name, a)
		}
	}
	for n := range rows {
		if !known[n] {
			v.Unanswered++
		}
	}
	requireNumbersOnce(t, acked)
	v.Late = l.requireOneWriter(acked)
	l.requireCopiesEqual()
	l.requireTold(rows, &v)
	return v
}

// rows returns the rows there are, of which no two may be the same.
func (l *tenantLoad) rows() map[int]bool {
	db := l.open(http.DefaultTransport)
	defer db.Close()
	found := map[int]bool{}
	for row, err := range db.Rows(context.Background(), "get log select n") {
		require.NoError(l.c.t, err)
		var n int
		require.NoError(l.c.t, row.Scan(&n))
		require.False(l.c.t, found[n], "%s: %d is there twice", l.name, n)
		found[n] = true
	}
	return found
}

func (l *procLoad) excuses(a ack) bool {
	return slices.ContainsFunc(l.excused, func(e excuse) bool { return a.end.After(e.from) && a.begun.Before(e.to) })
}

func requireNumbersOnce(t require.TestingT, acked []ack) {
	given := map[uint64]ack{}
	for _, a := range acked {
		if a.seq == 0 {
			continue
		}
		other, twice := given[a.seq]
		require.False(t, twice, "a number was given twice: %+v %+v", a, other)
		given[a.seq] = a
	}
}

// requireOneWriter checks that a node from which another has taken over writes no more: that
// one cannot lose the tenant in its turn before a term is over, so that whatever the first
// begins within that is too late. It returns how many answers to what the first had begun
// before came after.
func (l *tenantLoad) requireOneWriter(acked []ack) (late int) {
	direct := slices.DeleteFunc(acked, func(a ack) bool { return a.node == "" })
	slices.SortFunc(direct, func(a, b ack) int { return a.end.Compare(b.end) })
	for i := 1; i < len(direct); i++ {
		first, before := direct[i], direct[i-1].node
		if first.node == before {
			continue
		}
		for _, a := range direct[i+1:] {
			if a.end.Sub(first.end) > l.c.term*9/10 {
				break
			}
			if a.node == before {
				require.False(l.c.t, a.begun.After(first.end), "%s: written on two nodes: %+v, then %+v", l.name, first, a)
				late++
			}
		}
	}
	return late
}

// requireCopiesEqual compares the copies by their digests.
func (l *tenantLoad) requireCopiesEqual() {
	l.c.t.Helper()
	var primary, replica string
	l.c.eventually(func() bool {
		for _, p := range l.c.places() {
			if p.Name == l.name && p.Replica != "" {
				primary, replica = l.digest(l.c.node(p.Node)), l.digest(l.c.node(p.Replica))
			}
		}
		return primary != "" && primary == replica
	}, "equal copies of "+l.name)
}

func (l *tenantLoad) digest(n *procNode) string {
	_, answer, _ := call("GET", "http://"+n.direct+"/_admin/tenants/"+l.name+"/digest?chunk=1000000", procTokens, "")
	var d struct{ Root string }
	if json.Unmarshal([]byte(answer), &d) != nil || d.Root == "" {
		return ""
	}
	return answer
}

// requireTold waits until the subscriber was told of every row.
func (l *tenantLoad) requireTold(rows map[int]bool, v *procVerdict) {
	l.c.t.Helper()
	missing := 0
	all := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		missing = 0
		for n := range rows {
			if !l.told[n] {
				missing++
			}
		}
		return missing == 0 || len(l.faults) > 0
	}
	l.c.eventually(all, "the subscriber of "+l.name+" is told of all")
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Empty(l.c.t, l.faults)
	v.Told, v.Seeds = len(l.told), l.seeds-1
	for n := range l.told {
		if !rows[n] {
			v.Unwritten++
		}
	}
	v.Unwritten += l.gone
}
