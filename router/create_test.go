package router_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/stretchr/testify/require"
)

const schemaOutcome = `{"kind":"schema","applied":true}`

func TestCreateWithSchemaAndQuota(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		n := newNode(t)
		g.place("n1", n.addr())
		for _, c := range []struct{ tenant, body, answer, schema, quota string }{
			{"plain", `{"schema":null,"quota":null}`, `{"tenant":"plain","node":"n1"}`, "", ""},
			{"empty", `{"quota":{}}`, `{"tenant":"empty","node":"n1"}`, "", ""},
			{"object", `{"schema":{"format":1}}`, `{"tenant":"object","node":"n1","schema":` + schemaOutcome + `}`, `{"format":1}`, ""},
			{"text", `{"schema":"{\"format\":1}"}`, `{"tenant":"text","node":"n1","schema":` + schemaOutcome + `}`, `{"format":1}`, ""},
			{"quota", `{"quota":{"rows":5}}`, `{"tenant":"quota","node":"n1"}`, "", `{"rows":5}`},
			{"both", `{"node":"n1","quota":{"rows":5},"schema":{}}`, `{"tenant":"both","node":"n1","schema":` + schemaOutcome + `}`, `{}`, `{"rows":5}`},
		} {
			status, body := g.call("PUT", "/_shard/tenants/"+c.tenant, c.body)
			require.Equal(t, 201, status, body)
			require.Equal(t, c.answer, body)
			require.Equal(t, c.schema, n.parts.schemas[c.tenant])
			require.Equal(t, c.quota, n.parts.quotas[c.tenant])
			where, _ := g.rt.Directory().Tenant(c.tenant)
			require.Equal(t, placed(c.tenant, "n1", router.StateActive, 1), where)
		}
		for _, body := range []string{`{"schema":"create collection c (a int)"}`, `{"schema":7}`, `{"quota":{"rows":-1}}`, `{"quota":{"cows":1}}`, `{"nodes":"n1"}`} {
			status, _ := g.call("PUT", "/_shard/tenants/wrong", body)
			require.Equal(t, 400, status, body)
		}
		require.False(t, n.has("wrong"))
	})
}

// TestNoHalfMadeTenant looks at a tenant whose schema is being applied.
func TestNoHalfMadeTenant(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	n := newNode(t)
	g.place("n1", n.addr())
	n.parts.gate = make(chan struct{})
	apply := sync.OnceFunc(func() { close(n.parts.gate) })
	defer apply() // a node that waits for ever would not close
	created := make(chan int)
	go func() {
		status, _ := g.call("PUT", "/_shard/tenants/acme", `{"schema":{"format":1}}`)
		created <- status
	}()
	require.Eventually(t, func() bool {
		status, err := g.rt.Directory().Status(context.Background(), "acme")
		return err == nil && status == tenant.Provisioning
	}, 10*time.Second, time.Millisecond)
	status, head, body := g.callHead("GET", "/t/acme/notes", "")
	require.Equal(t, 503, status)
	require.Equal(t, "1", head.Get("Retry-After"))
	require.Contains(t, body, `"code":"tenant-provisioning"`)
	_, body = g.call("GET", "/_shard/tenants", "")
	require.Equal(t, `[{"name":"acme","node":"n1","state":"active","status":"provisioning","epoch":1}]`, body)
	apply()
	require.Equal(t, 201, <-created)
	status, _ = g.call("GET", "/t/acme/notes", "")
	require.Equal(t, 200, status)
}

func TestCreateRefusedHalfway(t *testing.T) {
	const refusals = `{"kind":"schema","applied":false,"refusals":[{"kind":"type_changed"}]}`
	for _, c := range []struct {
		name, body   string
		node         int // what it answers
		says         string
		status       int
		answer       string
		unpurgeable  bool
		leavesAStray bool
	}{
		{"schema refused", `{"schema":{}}`, 409, refusals, 409, refusals, false, false},
		{"schema wrong", `{"schema":{}}`, 400, `{"error":"no"}`, 400, `{"error":"no"}`, false, false},
		{"schema fails", `{"schema":{}}`, 500, `{"error":"out of order"}`, 502, "out of order", false, false},
		{"schema refused in a strange way", `{"schema":{}}`, 404, `<html>`, 404, "node n1 answered 404", false, false},
		{"schema answered in a strange way", `{"schema":{}}`, 200, `<html>`, 502, "node n1 answered 200", false, false},
		{"quota refused", `{"quota":{"rows":5},"schema":{}}`, 400, `{"error":"no"}`, 400, "node n1 answered 400: no", false, false},
		{"quota fails", `{"quota":{"rows":5}}`, 503, `{"error":"later"}`, 502, "later", false, false},
		{"and its file cannot be deleted", `{"schema":{}}`, 409, refusals, 409, refusals, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := startRouter(t, ownFace, router.Options{})
			n := newNode(t)
			g.place("n1", n.addr())
			n.parts.refuse, n.parts.says, n.unpurgeable = c.node, c.says, c.unpurgeable
			status, body := g.call("PUT", "/_shard/tenants/acme", c.body)
			require.Equal(t, c.status, status, body)
			require.Contains(t, body, c.answer)
			require.Empty(t, g.rt.Directory().Tenants())
			require.Zero(t, g.rt.Directory().Quota("acme"))
			require.Zero(t, g.rt.Directory().Placed("n1"))
			require.Equal(t, c.leavesAStray, n.has("acme"))
			status, _ = g.call("GET", "/t/acme/notes", "")
			require.Equal(t, 404, status)

			n.set(func() { n.parts.refuse, n.unpurgeable = 0, false })
			for {
				status, body = g.call("PUT", "/_shard/tenants/acme", c.body)
				if !strings.Contains(body, "in progress") {
					break // the router clears the stray away by itself, too
				}
			}
			require.Equal(t, 201, status, body)
			require.Empty(t, g.rt.Directory().Strays())
		})
	}
}
