package node_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// E1: what is made on both nodes of a pair is replicated, and takes no writes on the standby.
func TestStandby(t *testing.T) {
	n1 := startPeer(t)
	n2 := startPeer(t, standbyOf(n1))
	n1.create("acme")
	n1.put("acme", 1)
	n2.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	n2.has("acme", 1)
	n2.want(403, `{"error":"the database is a replica","code":"tenant-replica"}`, "POST", "/t/acme/notes", "", `{"a":2}`)
	for _, write := range []string{"set notes {a: 2}", "del notes", "create collection x (a int)", "compact"} {
		status, body := n2.query("acme", write)
		require.Equal(t, 403, status, body)
		require.Contains(t, body, "replica")
	}
	n2.want(403, "", "PUT", "/_admin/tenants/acme/settings", "a", `{"brand":"x"}`)
	at := n2.position("acme")
	require.Equal(t, "replica", at.Role)
	require.Equal(t, n1.url, at.Follows)
	require.NoFileExists(t, filepath.Join(n2.dir, "acme.follows"))
	require.Equal(t, "primary", n1.position("acme").Role)
}

// E12 and E13: who was promoted stays a primary, though the node is told to follow, and the
// others follow.
func TestPromotedStaysAPrimary(t *testing.T) {
	n1 := startPeer(t)
	n2 := startPeer(t, standbyOf(n1), func(o *node.Options) { o.Tenants.IdleClose = time.Millisecond })
	for _, name := range []string{"acme", "beta"} {
		n1.create(name)
		n1.put(name, 1)
		n2.want(201, "", "PUT", "/_admin/tenants/"+name, "a", "")
		n2.has(name, 1)
		n2.level(name, n1)
	}
	n2.want(200, "", "POST", "/_admin/tenants/acme/promote", "a", "")
	n2.put("acme", 2)
	eventually(t, func() bool { return len(n2.openNow()) == 0 }, "both rest and are closed") // E7, as it is here
	n2.put("acme", 3)
	n1.put("beta", 2)
	n2.has("beta", 2)

	n2.again()
	eventually(t, func() bool { status, _ := n2.do("GET", "/_ready", "", ""); return status == 200 }, "it is ready")
	n2.put("acme", 4)
	n2.has("acme", 4)
	n1.put("beta", 3)
	n2.has("beta", 3)
	n2.want(403, "", "POST", "/t/beta/notes", "", `{"a":4}`)
}

// E14: the old primary opens as one, follows when it is told to, and gives up what only it has.
func TestOldPrimaryFollows(t *testing.T) {
	n1 := startPeer(t)
	n1.create("acme")
	n1.put("acme", 1)
	n2 := startPeer(t)
	n2.copyOf(n1, "acme")
	n2.has("acme", 1)
	n2.level("acme", n1)
	require.FileExists(t, filepath.Join(n2.dir, "acme.follows"))
	n2.want(200, "", "POST", "/_admin/tenants/acme/promote", "a", "")
	require.NoFileExists(t, filepath.Join(n2.dir, "acme.follows"))
	n1.put("acme", 99) // which is lost
	n2.put("acme", 2)
	n2.put("acme", 3)

	n1.again(standbyOf(n2))
	n1.want(200, `{"count":2}`, "GET", "/t/acme/notes?count", "", "")
	n1.want(201, "", "POST", "/t/acme/notes", "", `{"a":100}`) // it is a primary still
	n1.want(200, `{"following":"acme"}`, "POST", "/_admin/tenants/acme/follow", "a", "")
	n1.has("acme", 3)
	n1.level("acme", n2)
	n1.want(403, "", "POST", "/t/acme/notes", "", `{"a":5}`)
	n1.want(200, `[{"a":1},{"a":2},{"a":3}]`, "GET", "/t/acme/notes?select=a", "", "")
	require.EqualValues(t, 1, n1.status("acme").Images)
	n2.put("acme", 4)
	n1.has("acme", 4)
}

// E15 and E16: a replica's file on a node that follows nobody is read, and promoted.
func TestReplicaWithoutUpstream(t *testing.T) {
	n1 := startPeer(t)
	n1.create("acme")
	n2 := startPeer(t, standbyOf(n1))
	n2.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	n1.put("acme", 1)
	n2.has("acme", 1)
	n2.level("acme", n1)
	for name, change := range map[string]func(*node.Options){
		"no upstream": alone,
		"no token":    func(o *node.Options) { alone(o); o.ReplicationToken = serve.Secret{} },
	} {
		t.Run(name, func(t *testing.T) {
			n2.again(change)
			n2.want(200, `{"count":1}`, "GET", "/t/acme/notes?count", "", "")
			n2.want(403, "", "POST", "/t/acme/notes", "", `{"a":2}`)
			require.Contains(t, n2.log.String(), "tenant acme: its file is a replica's")
			require.Equal(t, "replica", n2.position("acme").Role)
		})
	}
	var promoted struct {
		Promoted, History string
		Seq               uint64
	}
	status, body := n2.do("POST", "/_admin/tenants/acme/promote", "a", "")
	require.Equal(t, 200, status, body)
	require.NoError(t, json.Unmarshal([]byte(body), &promoted))
	at := n2.position("acme")
	require.Equal(t, "acme", promoted.Promoted)
	require.Equal(t, at.History, promoted.History)
	require.Equal(t, at.Last, promoted.Seq)
	require.Equal(t, "primary", at.Role)
	n2.put("acme", 2)
	status, body = n2.do("POST", "/_admin/tenants/acme/promote", "a", "")
	require.Equal(t, 409, status)
	require.Contains(t, body, "not a replica")
	n2.want(404, "", "POST", "/_admin/tenants/nobody/promote", "a", "")
	n2.want(400, "", "POST", "/_admin/tenants/acme/promote?force=2", "a", "")
}

// E21: a replica follows again by itself when its node is back.
func TestReplicaNodeRestarts(t *testing.T) {
	n1 := startPeer(t)
	n1.create("acme")
	n2 := startPeer(t)
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	n2.close()
	n1.put("acme", 1)
	n2.again()
	n2.has("acme", 1)
	require.Zero(t, n2.status("acme").Images)
}

// E27 and E28: what cannot be followed, and what is followed already.
func TestFollowRefusals(t *testing.T) {
	n1, n2, plain := startPeer(t), startPeer(t), start(t, node.Options{AdminToken: secretA})
	n1.create("acme")
	n2.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	plain.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	const follow = "/_admin/tenants/acme/follow"
	for _, from := range []string{
		`{"from":"https://n1:1"}`, `{"from":"http://n1"}`, `{"from":"http://n1:1/t/acme"}`, `{"from":""}`, `{"from":1}`, `{"from":null}`,
		`{"to":"http://n1:1"}`, `{"thaw":1}`, `[]`, `{`, `{"from":"http://a:b@n1:1"}`,
	} {
		n2.want(400, "", "POST", follow, "a", from)
	}
	n2.want(409, "", "POST", follow, "a", "")
	plain.want(409, "", "POST", follow, "a", `{"from":"`+n1.url+`"}`)
	n2.want(404, "", "POST", "/_admin/tenants/nobody/follow", "a", `{"from":"`+n1.url+`"}`)
	n2.want(401, "", "POST", follow, "r", `{"from":"`+n1.url+`"}`)
	n2.want(200, "", "POST", "/_admin/tenants/acme/freeze", "a", "")
	n2.want(409, "", "POST", follow, "a", `{"from":"`+n1.url+`"}`)
	n2.want(200, "", "POST", follow, "a", `{"from":"`+n1.url+`","thaw":true}`)
	require.False(t, n2.position("acme").Frozen)
	n2.level("acme", n1)
	stream := n2.follows("acme")
	for range 2 {
		n2.follow("acme", n1)
	}
	n1.put("acme", 7)
	for line := ""; !strings.Contains(line, `"a":7`); {
		var err error
		line, err = stream.ReadString('\n')
		require.NoError(t, err, "the subscription goes on")
	}
}

// E29: a primary that begins to follow ends the streams of those who follow it, and those get
// what it gets.
func TestDemotedWhileItFeeds(t *testing.T) {
	n1, n2, n3 := startPeer(t), startPeer(t), startPeer(t)
	n1.create("acme")
	n1.put("acme", 1)
	n2.create("acme")
	n3.copyOf(n2, "acme")
	n3.level("acme", n2)
	eventually(t, func() bool { return len(n2.status("acme").Replicas) == 1 }, "it feeds")
	n2.follow("acme", n1)
	n2.has("acme", 1)
	n3.has("acme", 1)
	require.Contains(t, n3.log.String(), "the database follows another one now")
	n1.put("acme", 2)
	n3.has("acme", 2)
	n3.level("acme", n1)
}

// H7: what was on a node before it was made a standby is not overwritten.
func TestStandbyLeavesAloneWhatItHas(t *testing.T) {
	n1 := startPeer(t)
	n1.create("acme")
	n1.put("acme", 1)
	n2 := startPeer(t, func(o *node.Options) { o.ReplicationToken = serve.Secret{} })
	n2.create("acme")
	n2.put("acme", 5)
	n2.put("acme", 6)
	n2.again(func(o *node.Options) { o.ReplicationToken = secretR }, standbyOf(n1))
	n2.want(200, `{"count":2}`, "GET", "/t/acme/notes?count", "", "")
	status, body := n2.do("POST", "/t/acme/notes", "", `{"a":2}`)
	require.Equal(t, 403, status)
	require.Contains(t, body, `"code":"tenant-replica"`)
	require.Contains(t, n2.log.String(), "tenant acme: ")
	require.Equal(t, "unsettled", n2.position("acme").Role)
	n2.want(200, "", "POST", "/_admin/tenants/acme/promote", "a", "")
	n2.put("acme", 7)
	n2.again()
	n2.put("acme", 8)
	require.Equal(t, "primary", n2.position("acme").Role)
	n2.want(200, "", "POST", "/_admin/tenants/acme/follow", "a", "")
	n2.has("acme", 1)
}

// A tenant that is made as a primary is one on a standby, too, though the node that this
// follows has a tenant of its name; and it stays one.
func TestCreatedAsAPrimary(t *testing.T) {
	n1 := startPeer(t)
	n1.create("acme")
	n1.put("acme", 99)
	n2 := startPeer(t, standbyOf(n1))
	for _, query := range []string{"?role=replica", "?role=", "?role=primary&role=primary"} {
		n2.want(400, "", "PUT", "/_admin/tenants/acme"+query, "a", "")
	}
	n2.want(201, `{"created":"acme"}`, "PUT", "/_admin/tenants/acme?role=primary", "a", "")
	n2.want(409, "", "PUT", "/_admin/tenants/acme?role=primary", "a", "")
	at := n2.position("acme")
	require.Equal(t, "primary", at.Role)
	require.NotEqual(t, n1.position("acme").History, at.History)
	status, body := n2.query("acme", "create collection notes (a int)")
	require.Equal(t, 200, status, body)
	n2.put("acme", 1)
	n2.again()
	n2.put("acme", 2)
	n2.want(200, `[{"a":1},{"a":2}]`, "GET", "/t/acme/notes?select=a", "", "")

	n2.want(201, "", "PUT", "/_admin/tenants/beta", "a", "")
	require.Equal(t, "replica", n2.position("beta").Role, "as it is on a standby without a word")
	n2.want(200, "", "POST", "/_admin/tenants/acme/follow", "a", "")
	n2.want(204, "", "DELETE", "/_admin/tenants/acme?purge=1", "a", "")
	n2.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	n2.has("acme", 1)
	require.Equal(t, "replica", n2.position("acme").Role, "nothing is left of the one before")
}

// Of two that make a tenant of one name at once, the one that is made has its role.
func TestCreatedInBothRoles(t *testing.T) {
	n1 := startPeer(t)
	n2 := startPeer(t, standbyOf(n1))
	for i := range 20 {
		name := fmt.Sprintf("t%d", i)
		made := make(chan string, 2)
		for role, query := range map[string]string{"primary": "?role=primary", "replica": ""} {
			go func() {
				if status, _ := n2.do("PUT", "/_admin/tenants/"+name+query, "a", ""); status != 201 {
					role = ""
				}
				made <- role
			}()
		}
		require.Equal(t, <-made+<-made, n2.position(name).Role, "one of the two")
	}
}
