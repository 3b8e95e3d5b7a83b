package router

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// auditLog keeps audit lines.
type auditLog struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *auditLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// take returns what the lines so far say of changes, as method, path, old and new.
func (l *auditLog) take(t testing.TB) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		var e struct {
			Method, Path string
			Old, New     json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		list = append(list, fmt.Sprintf("%s %s: %s -> %s", e.Method, strings.TrimPrefix(e.Path, "/_shard/"), e.Old, e.New))
	}
	l.buf.Reset()
	return list
}

// Changes are told with what was before and what is now; what was refused has changed
// nothing.
func TestAuditOfChanges(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	log := &auditLog{}
	rt, addr := routerOver(t, Options{AuditLog: log}, n1)
	require.NoError(t, rt.directory.SetAttrs("n1", Attrs{MaxTenants: 3}))
	listed1 := fmt.Sprintf(`{"name":"n1","addr":%q,"max_tenants":`, n1.Addr)
	added := fmt.Sprintf(`{"addr":%q,"token":%q}`, n2.Addr, clusterAdmin)
	for _, c := range []struct {
		method, path, body string
		status             int
		tells              string
	}{
		{"PUT", "nodes/n2", added, 201, fmt.Sprintf(` -> %q`, n2.Addr)},
		{"PUT", "nodes/n2", added, 201, fmt.Sprintf(`%q -> %q`, n2.Addr, n2.Addr)},
		{"PUT", "nodes/n1/attrs", `{"max_tenants":5,"labels":{"zone":"b"}}`, 200, listed1 + `3} -> ` + listed1 + `5,"labels":{"zone":"b"}}`},
		{"PUT", "nodes/n1/attrs", `{"max_tenants":-5}`, 400, ` -> `},
		{"PUT", "nodes/n1/attrs", `{"max_tenants":5}`, 200, listed1 + `5,"labels":{"zone":"b"}} -> ` + listed1 + `5}`},
		{"PUT", "tenants/acme", `{"node":"n1"}`, 201, ` -> "n1"`},
		{"PUT", "tenants/acme", `{"node":"n1"}`, 409, ` -> `},
		{"PUT", "tenants/acme/quota", `{"rows":5}`, 200, `{} -> {"rows":5}`},
		{"PUT", "tenants/acme/quota", `{"rows":7,"bytes":9}`, 200, `{"rows":5} -> {"bytes":9,"rows":7}`},
		{"PUT", "tenants/acme/quota", `{}`, 200, `{"bytes":9,"rows":7} -> {}`},
		{"PUT", "tenants/acme/status", `{"status":"degraded"}`, 200, `"active" -> "degraded"`},
		{"PUT", "tenants/acme/status", `{"status":"active"}`, 200, `"degraded" -> "active"`},
		{"POST", "tenants/acme/move", `{"to":"n2"}`, 200, `"n1" -> "n2"`},
		{"POST", "tenants/acme/thaw", "", 200, ` -> `},
		{"DELETE", "tenants/acme", "", 204, `"n2" -> `},
		{"DELETE", "tenants/acme", "", 404, ` -> `},
		{"POST", "tenants/acme/undelete", "", 200, ` -> "n2"`},
		{"POST", "nodes/n1/drain", "", 202, listed1 + `5} -> ` + listed1 + `5,"draining":true}`},
		{"POST", "nodes/n1/undrain", "", 204, listed1 + `5,"draining":true} -> ` + listed1 + `5}`},
		{"DELETE", "nodes/n1", "", 204, fmt.Sprintf(`%q -> `, n1.Addr)},
	} {
		status, body := shardCall(t, addr, c.method, c.path, c.body)
		require.Equal(t, c.status, status, "%s %s: %s", c.method, c.path, body)
		require.Equal(t, []string{c.method + " " + c.path + ": " + c.tells}, log.take(t))
	}
	shardCall(t, addr, "GET", "nodes", "")
	require.Empty(t, log.take(t))
}
