package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant/node"
)

type digest struct {
	Seq         uint64
	Root        string
	Schema      string
	Collections []struct {
		Name   string
		Rows   uint64
		Sum    string
		Chunks []struct {
			First, Last, Rows uint64
			Sum               string
		}
	}
}

// digest asks for a digest, whose answer has the status.
func (p *peer) digest(status int, name, query, wait string) (d digest, body string) {
	p.t.Helper()
	req, err := http.NewRequest("GET", p.url+"/_admin/tenants/"+name+"/digest"+query, nil)
	require.NoError(p.t, err)
	req.Header.Set("Authorization", "Bearer a")
	if wait != "" {
		req.Header.Set("Fenec-Wait", wait)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, status, res.StatusCode, "%s", text)
	if status == 200 {
		require.NoError(p.t, json.Unmarshal(text, &d))
	}
	return d, string(text)
}

// P10: both sides of a replication have the same digest at the same write.
func TestDigests(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	for i := range 25 {
		n1.put("acme", i)
	}
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	at := n1.position("acme").Last
	for _, query := range []string{"", fmt.Sprintf("?at=%d", at), "?chunk=10", fmt.Sprintf("?at=%d&chunk=10", at)} {
		a, _ := n1.digest(200, "acme", query, "")
		b, _ := n2.digest(200, "acme", query, "")
		require.Equal(t, a, b)
		require.Equal(t, at, a.Seq)
		require.Len(t, a.Root, 16)
		require.Len(t, a.Collections, 1)
		require.EqualValues(t, 25, a.Collections[0].Rows)
		if strings.Contains(query, "chunk") {
			require.Len(t, a.Collections[0].Chunks, 3)
			require.EqualValues(t, 5, a.Collections[0].Chunks[2].Rows)
		}
	}
	_, body := n1.digest(504, "acme", fmt.Sprintf("?at=%d", at+1), "10")
	require.Contains(t, body, fmt.Sprintf(`"seq":%d`, at))
	_, body = n1.digest(409, "acme", fmt.Sprintf("?at=%d", at-1), "")
	require.Contains(t, body, fmt.Sprintf(`"seq":%d`, at))
	for _, wrong := range []string{"?at=x", "?at=-1", "?chunk=0", "?chunk=x"} {
		n1.digest(400, "acme", wrong, "")
	}
	n1.digest(400, "acme", "", "x")
	n1.digest(404, "nobody", "", "")

	waited := make(chan digest, 1)
	go func() {
		d, _ := n2.digest(200, "acme", fmt.Sprintf("?at=%d", at+1), "20000")
		waited <- d
	}()
	n1.put("acme", 99)
	require.Equal(t, at+1, (<-waited).Seq)
}

// Numbers that a promotion has passed over are no write's: the digest is at the last one.
func TestDigestAfterAPromotion(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	n2.want(200, "", "POST", "/_admin/tenants/acme/promote", "a", "")
	at := n2.position("acme")
	require.Greater(t, at.Seq, at.Last)
	d, _ := n2.digest(200, "acme", fmt.Sprintf("?at=%d", at.Last), "")
	require.Equal(t, at.Last, d.Seq)
	n1.follow("acme", n2)
	n1.level("acme", n2)
	n2.put("acme", 1)
	n1.has("acme", 1)
	last := n2.position("acme").Last
	require.Greater(t, last, at.Seq)
	a, _ := n1.digest(200, "acme", fmt.Sprintf("?at=%d", last), "")
	b, _ := n2.digest(200, "acme", fmt.Sprintf("?at=%d", last), "")
	require.Equal(t, a, b)
	require.Zero(t, n1.status("acme").Images, "it lacked nothing")
}

// A replica that differs from its primary shows until an image has taken its place. While
// it is frozen none does.
func TestReplicaThatDiffers(t *testing.T) {
	// The last writes are equal to the byte.
	now := time.Now()
	stopped := func(o *node.Options) { o.Tenants.DB.Clock = func() time.Time { return now } }
	n1 := startPeer(t, stopped)
	n1.create("acme")
	n1.put("acme", 1)
	n1.close()
	n2 := startPeer(t, stopped, func(o *node.Options) { o.ReplicationToken = serve.Secret{} })
	file, err := os.ReadFile(filepath.Join(n1.dir, "acme.fenec"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(n2.dir, "acme.fenec"), file, 0o600))
	n1.again()
	n1.put("acme", 2)
	n2.put("acme", 3) // as the same write
	n1.put("acme", 4)
	n2.put("acme", 4)
	require.Equal(t, n1.position("acme").Last, n2.position("acme").Last)
	n2.again(func(o *node.Options) { o.ReplicationToken = secretR })
	n2.follow("acme", n1)
	n2.want(200, "", "POST", "/_admin/tenants/acme/freeze", "a", "")
	n2.want(200, `[]`, "GET", "/_admin/degraded", "a", "")
	eventually(t, func() bool {
		_, body := n2.do("GET", "/_admin/degraded", "a", "")
		return strings.Contains(body, `"name":"acme"`)
	}, "it is seen to differ")
	require.Contains(t, figures(n2.node), "\nfenec_tenants_degraded 1\n")
	require.Contains(t, figures(n2.node), "\nfenec_replica_diverged_total 1\n")
	n2.again() // which thaws it
	eventually(t, func() bool {
		_, body := n2.do("GET", "/_admin/degraded", "a", "")
		return body == "[]" && n2.status("acme").Images == 1
	}, "it is replaced")
	n2.want(200, `[{"a":1},{"a":2},{"a":4}]`, "GET", "/t/acme/notes?select=a", "", "")
}

// F17: reads of a replica go on while an image takes its place, and see one state or the
// other.
func TestReadsWhileAnImageComes(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	for i := range 100 {
		n1.put("acme", i)
	}
	n2.create("acme")
	n2.put("acme", 7)
	stop := make(chan struct{})
	ended := make(chan string, 1)
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			res, err := http.Get(n2.url + "/t/acme/notes?count")
			if err != nil {
				ended <- err.Error()
				return
			}
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if text := string(body); res.StatusCode != 200 || text != `{"count":1}` && text != `{"count":100}` {
				ended <- res.Status + " " + text
				return
			}
		}
	}()
	for range 3 {
		n2.follow("acme", n1)
		n2.level("acme", n1)
		n2.want(200, "", "POST", "/_admin/tenants/acme/promote", "a", "")
		n2.want(200, "", "POST", "/t/acme/query", "", `{"query":"set notes {a: 1}"}`) // which is lost again
	}
	close(stop)
	require.Empty(t, <-ended)
}

// A tenant that streams to a replica, or follows, is not closed for being idle, and gives way
// to others all the same.
func TestReplicatedTenantsStayOpen(t *testing.T) {
	idle := func(o *node.Options) { o.Tenants.IdleClose = 3 * time.Second; o.Tenants.MaxOpen = 2 }
	n1, n2 := startPeer(t, idle), startPeer(t, idle)
	n1.create("acme")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	for _, name := range []string{"beta", "gamma", "delta"} {
		n1.create(name)
		n1.put(name, 1)
	}
	n1.put("acme", 1)
	n2.has("acme", 1)
	require.LessOrEqual(t, len(n1.openNow()), 2)
}

// The streams of a node that ends are told so.
func TestStreamsEndWithTheNode(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n2.copyOf(n1, "acme")
	n2.level("acme", n1)
	n1.node.EndStreams()
	eventually(t, func() bool { return strings.Contains(n2.log.String(), "the node is being closed") }, "it is told")
	n1.want(200, "", "GET", "/t/acme/", "", "")
	n1.put("acme", 1)
	n1.want(503, "", "GET", "/t/acme/_replication/status", "r", "")
	n1.want(503, "", "GET", "/_replication/changed", "r", "")
	n1.again()
	n2.has("acme", 1)
}
