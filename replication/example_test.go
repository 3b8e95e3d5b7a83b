package replication_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

// A router leases to a node, which is then cut off.
func Example() {
	const term = 3 * time.Second
	router := replication.NewLeases(0, replication.LeaseOptions{Term: term})
	router.Place(0, "n1", []string{"acme"})
	router.Place(0, "n2", []string{"beta"})
	fence := replication.NewFence(0x5f0e2c9a81b44d17, replication.Authority{})
	clocks := func(now time.Duration) replication.Instant {
		return replication.Instant{Boot: now, Wall: now}
	}

	reachable := true
	var perform func(now time.Duration, actions []replication.Action)
	perform = func(now time.Duration, actions []replication.Action) {
		for _, action := range actions {
			switch a := action.(type) {
			case replication.Send: // a call to the node, in a goroutine of its own
				if a.Node == "n1" && reachable {
					state, err := fence.Grant(clocks(now), a.Grant)
					perform(now, router.Answered(now, a, state, err))
				}
			case replication.FailOver: // promotions, outside of the rounds
				if a.Node == "n1" {
					fmt.Println(now, "fail over", a.Node, a.Tenants)
				}
			}
		}
	}

	perform(0, router.Round(0))
	fmt.Println(0, fence.Admits(clocks(0), "acme"))
	fmt.Println(0, fence.Admits(clocks(0), "beta"))
	reachable = false
	for now := time.Second; now <= 4*time.Second; now += router.Interval() {
		perform(now, router.Round(now))
		fmt.Println(now, fence.Admits(clocks(now), "acme"))
	}
	// Output:
	// 0 <nil>
	// 0 another node holds the tenant's lease
	// 1s <nil>
	// 2s <nil>
	// 3s the node's lease has lapsed
	// 4s fail over n1 [acme]
	// 4s the node's lease has lapsed
}

func ExampleLineage_Continued() {
	lineage := replication.Lineage{{ID: 7, From: 10}, {ID: 9, From: 20}}
	const now = 30
	fmt.Println(lineage.Continued(0, 0, now))  // empty
	fmt.Println(lineage.Continued(7, 20, now)) // at the place where 9 began
	fmt.Println(lineage.Continued(7, 21, now)) // with a write that 9 does not have
	// Output:
	// true
	// true
	// false
}

func ExampleEncoder() {
	var stream bytes.Buffer
	e := replication.NewEncoder(&stream)
	writes := replication.Writes{First: 42}
	writes.Add([]byte("a record"), time.Unix(0, 0).UnixMilli())
	for _, m := range []replication.Message{
		replication.Hello{Seq: 41, Durable: 41},
		writes,
		replication.End{Reason: "the tenant is being moved"},
	} {
		if err := e.Encode(m); err != nil {
			fmt.Println(err)
			return
		}
	}

	d := replication.NewDecoder(&stream)
	for {
		m, err := d.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		switch m := m.(type) {
		case replication.Hello:
			fmt.Println("hello at", m.Seq)
		case replication.Writes:
			fmt.Printf("from %d: %s\n", m.First, m.Records)
		case replication.End:
			fmt.Println("end:", m.Reason)
		}
	}
	// Output:
	// hello at 41
	// from 42: a record
	// end: the tenant is being moved
	// EOF
}
