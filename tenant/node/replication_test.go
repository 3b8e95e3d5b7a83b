package node_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// F1: who has another token is told nothing.
func TestReplicationTokens(t *testing.T) {
	n1 := startPeer(t, func(o *node.Options) { o.Surface.Token = serve.NewSecret("d") })
	n1.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	off := start(t, node.Options{AdminToken: secretA})
	off.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	for _, path := range []string{"/t/acme/_replication", "/t/acme/_replication/status", "/t/nobody/_replication", "/_replication/changed"} {
		for _, token := range []string{"", "a", "d", "x"} {
			n1.want(401, "", "GET", path, token, "")
			off.want(401, "", "GET", path, token, "")
		}
	}
	n1.want(401, "", "POST", "/t/acme/_replication/promote", "a", "")
	n1.want(409, "", "POST", "/t/acme/_replication/promote", "r", "")
	n1.want(200, "", "GET", "/t/acme/_replication/status", "r", "")
	n1.want(401, "", "GET", "/t/acme/", "r", "")
	n1.want(404, "", "GET", "/t/nobody/_replication/status", "r", "")
	n1.want(400, "", "GET", "/t/Bad/_replication/status", "r", "")
	n1.want(404, "", "GET", "/t/acme/_replication/nothing", "r", "")
}

// F18: both sides tell how they stand.
func TestReplicationStatus(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	primary := n1.status("acme")
	require.Equal(t, "primary", primary.Role)
	require.NotNil(t, primary.Durable)
	require.Len(t, primary.Replicas, 1)
	require.Empty(t, primary.Primary)
	n1.put("acme", 1)
	n2.has("acme", 1)
	replica := n2.status("acme")
	require.Equal(t, "replica", replica.Role)
	require.Equal(t, n1.url+"/t/acme", replica.Primary)
	require.True(t, replica.Connected)
	require.Zero(t, replica.Behind)
	require.Empty(t, replica.Error)
	text := figures(n2.node)
	require.Contains(t, text, "\nfenec_replica_tenants 1\n")
	require.Contains(t, text, "\nfenec_replica_connected 1\n")
	require.Contains(t, text, "\nfenec_replica_behind 0\n")
	require.Contains(t, figures(n1.node), "\nfenec_replicas 1\n")
	require.NotContains(t, text+figures(n1.node), "acme")
}

// F19: what cannot be replicated is not begun.
func TestReplicationOptions(t *testing.T) {
	for name, o := range map[string]node.Options{
		"sync off":       {ReplicationToken: secretR, Tenants: tenant.Options{DB: fenec.Options{Sync: fenec.SyncOff}}},
		"no token":       {ReplicaOf: "http://127.0.0.1:1"},
		"held, no token": {ReplicasHeld: 1},
		"https":          {ReplicationToken: secretR, ReplicaOf: "https://127.0.0.1:1"},
		"a path":         {ReplicationToken: secretR, ReplicaOf: "http://127.0.0.1:1/t/acme"},
		"a negative one": {ReplicationToken: secretR, ReplicationBuffer: -1},
	} {
		_, err := node.Open(t.TempDir(), o)
		require.Error(t, err, name)
	}
}

// F21: a read on a replica waits for a write of its primary.
func TestReadYourWritesOnAReplica(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	after := func(seq uint64, ms string) (int, string) {
		req, err := http.NewRequest("GET", n2.url+"/t/acme/notes?count", nil)
		require.NoError(t, err)
		req.Header.Set("Fenec-After", fmt.Sprint(seq))
		req.Header.Set("Fenec-Wait", ms)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body)
	}
	seq := n1.position("acme").Last
	type answer struct {
		status int
		body   string
	}
	answered := make(chan answer, 1)
	go func() {
		status, body := after(seq+5, "20000")
		answered <- answer{status, body}
	}()
	for i := range 5 {
		n1.put("acme", i)
	}
	require.Equal(t, answer{200, `{"count":5}`}, <-answered)
	status, body := after(seq+6, "20")
	require.Equal(t, 504, status)
	require.Contains(t, body, fmt.Sprintf(`"seq":%d`, seq+5))
}

// E5, and what a tenant of the same name is afterwards.
func TestReplicaIsDeleted(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n1.put("acme", 1)
	n2.copyOf(n1, "acme")
	n2.has("acme", 1)
	n2.level("acme", n1)
	require.ErrorIs(t, n2.node.Tenants().Rename(t.Context(), "acme", "beta"), tenant.ErrFollows)
	n2.want(204, "", "DELETE", "/_admin/tenants/acme", "a", "")
	left, err := filepath.Glob(filepath.Join(n2.dir, "acme*"))
	require.NoError(t, err)
	require.Empty(t, left)
	eventually(t, func() bool { return len(n1.status("acme").Replicas) == 0 }, "its stream has ended")
	n2.want(200, "", "POST", "/_admin/tenants/acme/undelete", "a", "")
	n1.put("acme", 2)
	n2.has("acme", 2)
	n2.want(204, "", "DELETE", "/_admin/tenants/acme?purge=1", "a", "")
	n2.create("acme")
	n2.put("acme", 7)
	n1.put("acme", 3)
	n2.want(200, `[{"a":7}]`, "GET", "/t/acme/notes?select=a", "", "")
	n1.want(204, "", "DELETE", "/_admin/tenants/acme", "a", "")
}

// A primary that could not be deleted is replicated on, as E6 has it.
func TestDeleteOfAPrimaryInUse(t *testing.T) {
	slow := newHeld()
	n1 := startPeer(t, func(o *node.Options) {
		o.Tenants.DeleteWait = 20 * time.Millisecond
		o.Tenants.DB.Functions = slow.functions()
	})
	n2 := startPeer(t)
	n1.create("acme")
	n1.put("acme", 1)
	n2.copyOf(n1, "acme")
	n2.has("acme", 1)
	answered := slow.read(n1.client, "acme")
	<-slow.begun
	n1.want(409, "", "DELETE", "/_admin/tenants/acme", "a", "")
	n1.put("acme", 2)
	n2.has("acme", 2)
	close(slow.goOn)
	require.Equal(t, 200, <-answered)
}

// An import takes the place of a replica that is gone, and is none.
func TestImportInAReplicasPlace(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n1.put("acme", 1)
	image := func() io.Reader {
		var buf bytes.Buffer
		require.NoError(t, n1.node.Tenants().Export(t.Context(), "acme", &buf))
		return &buf
	}
	require.NoError(t, os.WriteFile(filepath.Join(n2.dir, "acme.follows"), []byte(n1.url), 0o600))
	require.NoError(t, n2.node.Tenants().Import(t.Context(), "acme", image(), -1))
	require.NoFileExists(t, filepath.Join(n2.dir, "acme.follows"))
	n2.put("acme", 2)
	require.Equal(t, "primary", n2.position("acme").Role)
}

// A write that is to be on the disks of replicas is, or is answered as one that stands.
func TestWritesHeldByReplicas(t *testing.T) {
	n1 := startPeer(t, func(o *node.Options) { o.ReplicasHeld = 1 })
	n2 := startPeer(t)
	n1.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	status, body := n1.query("acme", "create collection notes (a int)")
	require.Equal(t, 200, status, body)
	n1.put("acme", 1)
	n2.want(200, `{"count":1}`, "GET", "/t/acme/notes?count", "", "")
	asking := func(p *peer, copies string) (int, string) {
		req, err := http.NewRequest("POST", p.url+"/t/acme/notes", strings.NewReader(`{"a":2}`))
		require.NoError(t, err)
		req.Header.Set("Fenec-Replicas", copies)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(text)
	}
	status, body = asking(n1, "2")
	require.Equal(t, 504, status)
	require.Contains(t, body, `"code":"not-replicated"`)
	require.Contains(t, body, "the write stands")
	require.Contains(t, body, fmt.Sprintf(`"seq":%d,"held":1}`, n1.position("acme").Last))
	n1.want(200, `{"count":2}`, "GET", "/t/acme/notes?count", "", "")
	for _, wrong := range []string{"-1", "x", "65"} {
		status, _ = asking(n1, wrong)
		require.Equal(t, 400, status)
	}
	status, _ = asking(n1, "0")
	require.Equal(t, 201, status, "and no less than the node's own")
	n2.want(200, `{"count":3}`, "GET", "/t/acme/notes?count", "", "")
	n3 := startPeer(t)
	n3.create("acme")
	status, body = asking(n3, "1")
	require.Equal(t, 409, status, body)
}

// A promotion by who carries the replication token is noted as one by the administrator is.
func TestPromotionIsAudited(t *testing.T) {
	audit := &logBuffer{}
	n := startPeer(t, func(o *node.Options) { o.Surface.AuditLog = audit })
	n.create("acme")
	n.want(409, "", "POST", "/t/acme/_replication/promote", "r", "")
	require.Contains(t, audit.String(), `"path":"/t/acme/_replication/promote","http_status":409`)
	n.status("acme")
	require.NotContains(t, audit.String(), "/status")
}
