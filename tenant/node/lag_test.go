package node_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant/node"
)

// A copy tells for how long it has not known to have all: at work, at rest, where it is not
// in touch, and after a start.
func TestLag(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		n1, n2 := restingPair(t, dirs)
		lag := func() time.Duration {
			var at struct {
				LagMs *int64 `json:"lag_ms"`
			}
			require.Equal(t, 200, admin(t, n2.node, "GET", "/_admin/tenants/acme", "", &at))
			require.NotNil(t, at.LagMs)
			return time.Duration(*at.LagMs) * time.Millisecond
		}
		between := func(least, most time.Duration, when string) {
			t.Helper()
			got := lag()
			require.GreaterOrEqual(t, got, least, when)
			require.LessOrEqual(t, got, most, when)
		}
		n1.query("acme", "create collection notes (a int)")
		time.Sleep(time.Second)
		var list []struct {
			Name, Follows string
			LagMs         int64 `json:"lag_ms"`
		}
		require.Equal(t, 200, admin(t, n2.node, "GET", "/_admin/following", "", &list))
		require.Len(t, list, 1)
		require.Equal(t, []string{"acme", "http://n1:1"}, []string{list[0].Name, list[0].Follows})
		require.Less(t, list[0].LagMs, int64(3000))
		require.Equal(t, 200, admin(t, n1.node, "GET", "/_admin/following", "", &list))
		require.Empty(t, list)
		between(0, 3*time.Second, "at work")
		for range 20 { // without a pause in which the primary tells that it is there
			n1.query("acme", "put notes {a: 1}")
			time.Sleep(time.Second)
		}
		between(0, 3*time.Second, "while it is written")
		time.Sleep(3 * time.Minute)
		require.Equal(t, 1, n2.figure("fenec_replica_resting"))
		between(0, 3*time.Second, "at rest")

		n1.close()
		time.Sleep(time.Minute)
		between(time.Minute, 63*time.Second, "at rest without its primary")
		n1.open("n1:1")
		time.Sleep(10 * time.Second)
		between(0, 3*time.Second, "once that is back")
		n1.query("acme", "put notes {a: 2}")
		n1.close()
		time.Sleep(time.Minute)
		between(time.Minute, 63*time.Second, "at work without its primary")

		n1.open("n1:1")
		time.Sleep(10 * time.Second)
		n2.close()
		n1.query("acme", "put notes {a: 3}")
		time.Sleep(time.Minute)
		n2.open("n2:1")
		for n2.last("acme") != n1.last("acme") {
			time.Sleep(10 * time.Millisecond)
		}
		between(0, time.Second, "with what was written long ago")
		n1.close()

		n2.close()
		n2.open("n2:1")
		time.Sleep(10 * time.Second)
		require.Equal(t, -time.Millisecond, lag(), "started without its primary")
		n2.close()
	})
}

// A primary that is made to follow gives up what its new primary has not: it is in the
// trash, and can be had as a tenant of another name.
func TestWhatIsGivenUpIsKept(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	n2.want(200, "", "POST", "/_admin/tenants/acme/promote", "a", "")
	n1.put("acme", 1)
	n1.put("acme", 2)
	n2.put("acme", 3)
	n1.follow("acme", n2)
	n1.level("acme", n2)
	n1.has("acme", 1)
	list, err := n1.node.Tenants().Trash()
	require.NoError(t, err)
	require.Len(t, list, 1)
	kept, err := filepath.Glob(filepath.Join(n1.dir, ".trash", "acme.*", "acme.fenec"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.Contains(t, n1.log.String(), "is KEPT at "+kept[0])

	image, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(n1.dir, "acme-lost.fenec"), image, 0o600))
	n1.want(200, "", "POST", "/_admin/tenants/acme-lost/promote?force=1", "a", "")
	n1.has("acme-lost", 2)
	n1.want(204, "", "DELETE", "/_admin/tenants/acme-lost", "a", "")
	n1.has("acme", 1)
}

// A copy that is a part of what takes its place is not kept.
func TestWhatIsAPartIsNotKept(t *testing.T) {
	n1, n2 := startPeer(t, func(o *node.Options) { o.ReplicationBuffer = 1 << 12 }), startPeer(t)
	n1.create("acme")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	n2.close()
	for i := range 300 {
		n1.put("acme", i)
	}
	n1.again()
	n2.open(n2.listen.Addr().String())
	n2.level("acme", n1)
	require.EqualValues(t, 1, n2.status("acme").Images)
	list, err := n2.node.Tenants().Trash()
	require.NoError(t, err)
	require.Empty(t, list)
}
