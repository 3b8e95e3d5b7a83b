package router_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

func TestStatus(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		n := newNode(t)
		g.place("n1", n.addr(), "acme")
		var contacted atomic.Int64
		n.data = func(w http.ResponseWriter, r *http.Request) {
			contacted.Add(1)
			echo(w, r)
		}
		for _, c := range []struct {
			body, answer, list string
			data               int
			code               string
		}{
			{`{"status":"degraded","why":"its disk"}`, `{"tenant":"acme","status":"degraded","why":"its disk"}`, `"status":"degraded",`, 503, "tenant-degraded"},
			{`{"status":"provisioning"}`, `{"tenant":"acme","status":"provisioning"}`, `"status":"provisioning",`, 503, "tenant-provisioning"},
			{`{"status":"active"}`, `{"tenant":"acme","status":"active"}`, ``, 200, ""},
		} {
			status, body := g.call("PUT", "/_shard/tenants/acme/status", c.body)
			require.Equal(t, 200, status, body)
			require.Equal(t, c.answer, body)
			_, body = g.call("GET", "/_shard/tenants", "")
			require.Equal(t, `[{"name":"acme","node":"n1","state":"active",`+c.list+`"epoch":1}]`, body)
			status, body = g.call("GET", "/t/acme/notes", "")
			require.Equal(t, c.data, status)
			require.Contains(t, body, c.code)
			require.Equal(t, c.data == 200, contacted.Load() > 0, "a node is not asked for what is not served")
		}
		require.Contains(t, g.log.String(), "its disk")
		for path, bodies := range map[string]map[string]int{
			"acme":   {`{"status":"frozen"}`: 400, `{}`: 400, `{"status":0}`: 400, `{"status":"active","because":"x"}`: 400},
			"nobody": {`{"status":"active"}`: 404},
			"Acme":   {`{"status":"active"}`: 400},
		} {
			for body, want := range bodies {
				status, _ := g.call("PUT", "/_shard/tenants/"+path+"/status", body)
				require.Equal(t, want, status, body)
			}
		}
	})
}

// A tenant's status stays while another operation runs on it.
func TestStatusInProgress(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", newNode(t).addr(), "acme")
	release, err := g.rt.Directory().Claim("acme")
	require.NoError(t, err)
	status, body := g.call("PUT", "/_shard/tenants/acme/status", `{"status":"degraded"}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "in progress")
	release()
	status, body = g.call("PUT", "/_shard/tenants/acme/status", `{"status":"degraded"}`)
	require.Equal(t, 200, status, body)
}
