package router

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	fenecclient "github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/replication"
)

// A node says that a write is done, and its word comes when another one has taken over
// without the write: the client is not told that it is done. A read is answered.
func TestOvertakenAnswer(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1", replicating), startLocalNode(t, "n2", replicating)
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	replicate(t, rt, "acme", "n2")
	n2.requireRows(t, "acme", 10)
	handler := httptest.NewServer(rt)
	defer handler.Close()
	arrived, free := make(chan bool), make(chan bool)
	n1.failing(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/t/acme/docs" {
			return false
		}
		arrived <- true
		<-free
		if r.Method == "POST" {
			w.WriteHeader(http.StatusCreated)
		}
		return true
	})
	type told struct {
		status int
		body   string
	}
	faces := []string{"http://" + addr, handler.URL}
	wrote, read := make(chan told, len(faces)), make(chan told, len(faces))
	for _, face := range faces {
		for method, answer := range map[string]chan told{"POST": wrote, "GET": read} {
			go func() {
				status, body := answerOf(t, mustRequest(t, method, face+"/t/acme/docs"))
				answer <- told{status, body}
			}()
			<-arrived
		}
	}
	done, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.Len(t, done.Promoted, 1)
	close(free)
	for range faces {
		write := <-wrote
		require.Equal(t, 503, write.status, write.body)
		require.Contains(t, write.body, `"code":"`+problem.OutcomeUnknown.Code+`"`)
		require.Equal(t, 200, (<-read).status)
	}
}

// An answer that took long counts no more from when its node may have lost its lease.
func TestOverdueAnswer(t *testing.T) {
	now := time.Duration(0)
	l := newLeasing(nil, time.Second, t.Logf)
	l.clock = func() time.Duration { return now }
	require.False(t, l.overdue("n1", time.Minute), "it has not begun")
	l.leases = replication.NewLeases(0, replication.LeaseOptions{Term: time.Second})
	l.leases.Place(0, "n1", nil)
	for _, tc := range []struct {
		now, took time.Duration
		want      bool
	}{
		{time.Second, time.Second, false},
		{time.Second + 1, time.Second, true},
		{time.Second + 1, 99 * time.Millisecond, false},
	} {
		now = tc.now
		require.Equal(t, tc.want, l.overdue("n1", tc.took), "%+v", tc)
	}
	require.False(t, (*leasing)(nil).overdue("n1", time.Minute))
}

// A stream ends with the failover of its node, though that says nothing any more: its client
// comes back and is told by the next one.
func TestStreamsEndWithAFailover(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1", replicating), startLocalNode(t, "n2", replicating)
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	replicate(t, rt, "acme", "n2")
	n2.requireRows(t, "acme", 10)
	eventually(t, func() bool { return !n2.stands(t, "acme").lacks() })
	db, err := fenecclient.Open("http://"+addr+"/t/acme", fenecclient.Options{Token: fenecclient.NewSecret(clusterData)})
	require.NoError(t, err)
	defer db.Close()
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "docs"}, fenec.NoCursor)
	require.NoError(t, err)
	defer sub.Close()
	seed, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, fenec.EventSeed, seed.Kind)

	done, err := rt.FailOver(t.Context(), "n1", false) // n1 goes on, and knows of nothing
	require.NoError(t, err)
	require.Len(t, done.Promoted, 1)
	mustRun(t, addr, "acme", "put docs {n: 11}")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	change, err := sub.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, fenec.EventChange, change.Kind)
	require.Greater(t, change.Seq, seed.Seq)
}
