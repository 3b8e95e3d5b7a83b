package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/stretchr/testify/require"
)

// faultStore refuses every change once it is broken. onWrite is called before a
// change is stored.
type faultStore struct {
	store
	broken  error
	stands  bool // what is refused is kept all the same
	onWrite func()
}

func (s *faultStore) write(change func(rows) error) error {
	if s.onWrite != nil {
		s.onWrite()
	}
	if s.broken != nil {
		if s.stands {
			s.stands = false
			return errors.Join(s.store.write(change), s.broken)
		}
		return s.broken
	}
	return s.store.write(change)
}

func faultDirectory(t *testing.T) (*Directory, *faultStore) {
	file, err := openFile("", DirectoryOptions{})
	require.NoError(t, err)
	s := &faultStore{store: file}
	d, err := newDirectory(s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, s
}

var errDisk = errors.New("disk full")

func TestFailedWriteChangesNothing(t *testing.T) {
	d, s := faultDirectory(t)
	n := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n))
	require.NoError(t, d.PutNode(Node{Name: "n2", Addr: "b:1", Token: NewToken("x")}))
	require.NoError(t, d.Place("acme", n))

	s.broken = errDisk
	for name, change := range map[string]func() error{
		"new node":    func() error { return d.PutNode(Node{Name: "n3", Addr: "c:1", Token: NewToken("x")}) },
		"new address": func() error { return d.PutNode(Node{Name: "n1", Addr: "z:1", Token: NewToken("x")}) },
		"node gone":   func() error { return d.DeleteNode("n2") },
		"placed":      func() error { return d.Place("beta", n) },
		"forgotten":   func() error { return d.Forget("acme") },
		"status":      func() error { return d.SetStatus("acme", tenant.Degraded) },
		"quota":       func() error { return d.SetQuota("acme", quota.Limits{Rows: 1}) },
		"attributes":  func() error { return d.SetAttrs("n1", Attrs{MaxTenants: 1}) },
		"move":        func() error { return d.beginMove("acme", "n2") },
		"flip":        func() error { return d.flip("acme", Node{Name: "n2", Addr: "b:1"}, 1) },
		"stray":       func() error { return d.endMove("acme", &Stray{Tenant: "acme", Node: "n2"}) },
	} {
		err := change()
		require.ErrorIs(t, err, ErrDirectory, name)
		require.ErrorIs(t, err, errDisk, name)
		require.True(t, strings.HasPrefix(err.Error(), "directory: "), "%s: %v", name, err)
	}
	require.Len(t, d.Nodes(), 2)
	require.Equal(t, []Tenant{{Name: "acme", Node: "n1", State: StateActive, Epoch: 1}}, d.Tenants())
	found, _ := d.Lookup([]byte("acme"))
	require.Equal(t, "a:1", found.Addr)
	require.ErrorIs(t, d.DeleteNode("n1"), ErrNodeInUse)
	require.Empty(t, d.Strays())
	require.Zero(t, d.Quota("acme"))
	require.Zero(t, d.Attrs("n1").MaxTenants)
}

func TestMapsChangeAfterTheWrite(t *testing.T) {
	d, s := faultDirectory(t)
	n := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	s.onWrite = func() { require.Empty(t, d.Nodes()) }
	require.NoError(t, d.PutNode(n))
	s.onWrite = func() { require.Empty(t, d.Tenants()) }
	require.NoError(t, d.Place("acme", n))
	s.onWrite = func() { require.Len(t, d.Tenants(), 1) }
	require.NoError(t, d.Forget("acme"))
	s.onWrite = func() { require.Len(t, d.Nodes(), 1) }
	require.NoError(t, d.DeleteNode("n1"))
	require.Empty(t, d.Nodes())
}

// TestCreateIsUndone breaks the directory once the node has made the tenant.
func TestCreateIsUndone(t *testing.T) {
	d, s := faultDirectory(t)
	var asked []string
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		if r.Method == "PUT" {
			s.broken = errDisk
		}
		w.WriteHeader(map[string]int{"GET": 404, "PUT": 201, "DELETE": 204}[r.Method])
	}))
	defer node.Close()
	require.NoError(t, d.PutNode(Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: NewToken("x")}))
	rt, err := New(Options{Directory: d})
	require.NoError(t, err)
	defer rt.Shutdown(context.Background())

	w := httptest.NewRecorder()
	rt.ServeHTTP(w, httptest.NewRequest("PUT", "/_shard/tenants/acme", strings.NewReader(`{"node":"n1"}`)))
	require.Equal(t, 500, w.Code)
	var body struct{ Error string }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	require.Contains(t, body.Error, "directory: disk full")
	require.Equal(t, []string{"GET /_admin/tenants/acme", "PUT /_admin/tenants/acme?role=primary", "DELETE /_admin/tenants/acme?purge=1"}, asked)
	require.Empty(t, d.Tenants())
	require.Equal(t, []Stray{{Tenant: "acme", Node: "n1"}}, d.Strays(), "which is looked for once the directory works")

	asked = nil
	w = httptest.NewRecorder()
	rt.ServeHTTP(w, httptest.NewRequest("PUT", "/_shard/tenants/beta", strings.NewReader(`{"node":"n1"}`)))
	require.Equal(t, 500, w.Code)
	require.Equal(t, []string{"GET /_admin/tenants/beta"}, asked, "nothing is made that is not recorded before")
}

// TestPanicEndsItsAnswerOnly has the directory panic while a request changes it.
func TestPanicEndsItsAnswerOnly(t *testing.T) {
	d, s := faultDirectory(t)
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"disk":0}`) }))
	defer node.Close()
	var logged bytes.Buffer
	rt, err := New(Options{Directory: d, ErrorLog: log.New(&logged, "", 0)})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go rt.Serve(l)
	put := func() int {
		body := strings.NewReader(`{"addr":"` + node.Listener.Addr().String() + `","token":"x"}`)
		r, err := http.NewRequest("PUT", "http://"+l.Addr().String()+"/_shard/nodes/n1", body)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	s.onWrite = func() { panic("out of order") }
	require.Equal(t, 500, put())
	s.onWrite = nil
	require.Equal(t, 201, put())
	require.NoError(t, rt.Shutdown(context.Background()))
	require.Contains(t, logged.String(), "out of order")
	require.Contains(t, logged.String(), "request_id=")
}
