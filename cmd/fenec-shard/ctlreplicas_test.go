package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// scripted is a command, what it asks, and what comes of it.
type scripted struct {
	name, line string
	script     []exchanged
	want       said
}

func runScripted(t *testing.T, list []scripted) {
	t.Helper()
	for _, tc := range list {
		t.Run(tc.name, func(t *testing.T) {
			tc.want.stdout = golden(tc.want.stdout)
			require.Equal(t, tc.want, runCtl(t, newFakeShard(t, tc.script...).URL, tc.line))
		})
	}
}

var (
	pairedNodes = exchanged{"GET /_shard/nodes", 0, `[{"name":"n1","addr":"10.0.0.1:8080","standby":"n2"},{"name":"n2","addr":"10.0.0.2:8080"},{"name":"n3","addr":"10.0.0.3:8080"}]`}
	someTenants = exchanged{"GET /_shard/tenants", 0, `[{"name":"acme","node":"n1","state":"active","epoch":1},
		{"name":"beta","node":"n3","state":"active","epoch":2,"replica":"n4"},{"name":"gamma","node":"n3","state":"moving","to":"n4","epoch":1},
		{"name":"many","node":"n3","state":"active","status":"degraded","epoch":1,"replica":"n4","replicas":["n4","n5"]}]`}
)

func TestCtlPairs(t *testing.T) {
	runScripted(t, []scripted{
		{"nodes", "nodes", []exchanged{pairedNodes}, said{0, `
			NODE  ADDRESS        ROLE    MAX TENANTS  MAX BYTES  LABELS  STANDBY
			n1    10.0.0.1:8080  shared  -            -          -       n2
			n2    10.0.0.2:8080  shared  -            -          -       -
			n3    10.0.0.3:8080  shared  -            -          -       -
			`, ""}},
		{"node add", "node add n1 --addr a:1 --node-token secret --standby n2", []exchanged{
			{`PUT /_shard/nodes/n1 {"addr":"a:1","standby":"n2","token":"secret"}`, 201, `{"node":"n1","unreplicated":[]}`},
		}, said{0, "n1 is recorded at a:1\nn2 stands by n1\n", ""}},
		{"node set", "node set n1 --standby n3 --node-token secret", []exchanged{
			pairedNodes,
			{`PUT /_shard/nodes/n1 {"addr":"10.0.0.1:8080","standby":"n3","token":"secret"}`, 201, `{"node":"n1","unreplicated":["acme","beta"]}`},
		}, said{0, "n3 stands by n1\nit has no copy yet of acme, beta; the router goes on trying\n", ""}},
		{"no standby, and attributes", "node set n1 --no-standby --node-token secret --role dedicated", []exchanged{
			pairedNodes,
			{`PUT /_shard/nodes/n1 {"addr":"10.0.0.1:8080","standby":"","token":"secret"}`, 201, `{"node":"n1","unreplicated":[]}`},
			{"GET /_shard/nodes", 0, `[{"name":"n1"}]`},
			{`PUT /_shard/nodes/n1/attrs {"role":"dedicated"}`, 0, `{"name":"n1","addr":"a:1","role":"dedicated"}`},
		}, said{0, `
			n1 has no standby
			NODE  ADDRESS  ROLE       MAX TENANTS  MAX BYTES  LABELS
			n1    a:1      dedicated  -            -          -
			`, ""}},
		{"of an unknown node", "node set n9 --standby n2 --node-token secret", []exchanged{pairedNodes},
			said{1, "", "fenec-shard ctl: node set: the router has no node n9\n"}},
		{"refused", "node set n1 --standby n9 --node-token secret", []exchanged{
			pairedNodes,
			{`PUT /_shard/nodes/n1 {"addr":"10.0.0.1:8080","standby":"n9","token":"secret"}`, 404, `{"error":"node n9: unknown node"}`},
		}, said{1, "", "fenec-shard ctl: node set: the router answered 404: node n9: unknown node\n"}},
	})
}

func TestCtlReplicas(t *testing.T) {
	runScripted(t, []scripted{
		{"list", "replicas", []exchanged{pairedNodes, someTenants}, said{0, `
			TENANT  NODE  REPLICA ON  STANDBY
			acme    n1    -           n2
			beta    n3    n4          -
			gamma   n3    -           -
			many    n3    n4,n5       -
			1 tenant without a copy on another node: gamma
			`, ""}},
		{"tenants", "tenants", []exchanged{someTenants}, said{0, `
			TENANT  NODE  STATE         STATUS    EPOCH  REPLICA ON
			acme    n1    active        active    1      -
			beta    n3    active        active    2      n4
			gamma   n3    moving to n4  active    1      -
			many    n3    active        degraded  1      n4,n5
			`, ""}},
		{"repair", "replicas repair", []exchanged{
			{"POST /_shard/replicas", 0, `{"replicated":[{"tenant":"acme","replica":"n1"},{"tenant":"beta","replica":"n2"}],"failed":[]}`},
		}, said{0, `
			TENANT  REPLICA ON
			acme    n1
			beta    n2
			`, ""}},
		{"nothing to repair", "replicas repair", []exchanged{{"POST /_shard/replicas", 0, `{"replicated":[],"failed":[]}`}},
			said{0, "no tenant lacks a replica\n", ""}},
		{"repaired in part", "replicas repair", []exchanged{
			{"POST /_shard/replicas", 502, `{"replicated":[{"tenant":"acme","replica":"n1"}],"failed":[{"tenant":"beta","why":"no other node"}]}`},
		}, said{1, `
			TENANT  REPLICA ON
			acme    n1
			beta has no replica: no other node
			`, "fenec-shard ctl: replicas repair: 1 tenant without a replica\n"}},
		{"create", "create acme", []exchanged{{"PUT /_shard/tenants/acme {}", 201, `{"tenant":"acme","node":"n1","replica_on":"n2"}`}},
			said{0, "acme is on n1\nits replica is on n2\n", ""}},
		{"create without", "create acme", []exchanged{{"PUT /_shard/tenants/acme {}", 201, `{"tenant":"acme","node":"n1","replica":"node n2 did not answer","unreplicated":"no other node"}`}},
			said{0, "acme is on n1\nthe standby has no copy yet: node n2 did not answer\nit has no replica: no other node\n", ""}},
		{"move", "move acme n2", []exchanged{
			{`POST /_shard/tenants/acme/move {"to":"n2"}`, 200, `{"tenant":"acme","from":"n1","to":"n2","bytes":1000,"ms":1,"source_removed":true,"replica_on":"n3"}`},
		}, said{0, "acme moved from n1 to n2: 1.00 kB in 1 ms, 1.00 MB/s\nits replica is on n3\n", ""}},
	})
}

func TestCtlFailover(t *testing.T) {
	const answered = `{"node":"n1","promoted":[{"tenant":"acme","to":"n2"},{"tenant":"beta","to":"n3"}],"failed":[],"unreplicated":["gamma","delta"]}`
	runScripted(t, []scripted{
		{"to replicas", "failover n1", []exchanged{{"POST /_shard/nodes/n1/failover {}", 0, answered}}, said{0, `
			TENANT  NOW ON
			acme    n2
			beta    n3
			without a replica now, as that was on n1: gamma, delta
			`, ""}},
		{"for scripts", "failover n1 --json", []exchanged{{"POST /_shard/nodes/n1/failover {}", 0, answered}}, said{0, answered + "\n", ""}},
		{"to a standby", "failover n1 --force", []exchanged{
			{`POST /_shard/nodes/n1/failover {"force":true}`, 0, `{"node":"n1","to":"n2","promoted":["acme","beta"],"failed":[]}`},
		}, said{0, `
			TENANT  NOW ON
			acme    n2
			beta    n2
			`, ""}},
		{"to a standby and replicas", "failover n1", []exchanged{
			{"POST /_shard/nodes/n1/failover {}", 0, `{"node":"n1","to":"n2","promoted":["acme"],"elsewhere":[{"tenant":"beta","to":"n3"}],"failed":[]}`},
		}, said{0, `
			TENANT  NOW ON
			acme    n2
			beta    n3
			`, ""}},
		{"in part", "failover n1", []exchanged{
			{"POST /_shard/nodes/n1/failover {}", 502, `{"node":"n1","to":"n2","promoted":["acme"],"failed":[{"tenant":null,"why":"directory: full"},{"tenant":"beta","why":"no replica"}]}`},
		}, said{1, `
			TENANT  NOW ON
			acme    n2
			the pair has not ended: directory: full
			beta is still on n1: no replica
			`, "fenec-shard ctl: failover: n1 is not wholly failed over; it can be tried again\n"}},
		{"of an empty node", "failover n1", []exchanged{
			{"POST /_shard/nodes/n1/failover {}", 0, `{"node":"n1","promoted":[],"failed":[],"unreplicated":["acme"]}`},
		}, said{0, "no tenant of n1 has another node now\nwithout a replica now, as that was on n1: acme\n", ""}},
		{"refused", "failover n1", []exchanged{
			{"POST /_shard/nodes/n1/failover {}", 409, `{"error":"node n1: it does not answer, and may write until its lease has run out","code":"lease-running"}`},
		}, said{1, "", "fenec-shard ctl: failover: the router answered 409: node n1: it does not answer, and may write until its lease has run out (lease-running)\n"}},
		{"behind a proxy", "failover n1", []exchanged{{"POST /_shard/nodes/n1/failover {}", 502, "<html>"}},
			said{1, "", "fenec-shard ctl: failover: the router answered 502: Bad Gateway\n"}},
	})
}

func TestCtlStatus(t *testing.T) {
	runScripted(t, []scripted{
		{"with leases", "status", []exchanged{pairedNodes, someTenants, {"GET /_metrics", 0, `# HELP fenec_router_tenants Tenants placed on a node.
fenec_router_tenants{node="n1"} 1
fenec_router_tenants{node="n2"} 0
fenec_router_tenants{node="n3"} 1203
fenec_router_replicas{node="n1"} 0
fenec_router_lease_age_seconds{node="n1"} 0.022996928
fenec_router_lease_age_seconds{node="n2"} 61.5
fenec_router_node_failed_over{node="n1"} 0
fenec_router_node_failed_over{node="n2"} 1
fenec_router_following 0
fenec_replicas 1
`}}, said{0, `
			NODE  ADDRESS        ROLE    TENANTS  REPLICAS  STANDBY  LEASE
			n1    10.0.0.1:8080  shared  1        0         n2       taken 23ms ago
			n2    10.0.0.2:8080  shared  0        -         -        lost
			n3    10.0.0.3:8080  shared  1,203    -         -        -
			4 tenants, 1 moving
			not active: many degraded
			1 tenant without a copy on another node: gamma
			the router takes changes; 1 router follows it
			`, ""}},
		{"of a standby", "status", []exchanged{
			{"GET /_shard/nodes", 0, `[]`}, {"GET /_shard/tenants", 0, `[]`},
			{"GET /_metrics", 0, "fenec_router_following 1\nfenec_replica_connected 1\nfenec_replica_behind 2\n"},
		}, said{0, `
			NODE  ADDRESS  ROLE  TENANTS  REPLICAS  STANDBY  LEASE
			0 tenants, 0 moving
			the router follows another one, 2 changes behind
			`, ""}},
		{"of one that is alone", "status", []exchanged{
			{"GET /_shard/nodes", 0, `[]`}, {"GET /_shard/tenants", 0, `[]`},
			{"GET /_metrics", 0, "fenec_router_following 1\nfenec_replica_connected 0\nfenec_replica_behind 2\n"},
		}, said{0, `
			NODE  ADDRESS  ROLE  TENANTS  REPLICAS  STANDBY  LEASE
			0 tenants, 0 moving
			the router follows another one, which does not answer
			`, ""}},
		{"for scripts", "status --json", []exchanged{
			{"GET /_shard/nodes", 0, `[{"name":"n1"}]`}, {"GET /_shard/tenants", 0, `[]`}, {"GET /_metrics", 0, ""},
		}, said{0, `
			[{"name":"n1"}]
			[]
			`, ""}},
	})
}

func TestCtlRouters(t *testing.T) {
	status := func(answer string) []exchanged { return []exchanged{{"GET /_replication/status", 0, answer}} }
	const line = "replication --replication-token replication-token"
	runScripted(t, []scripted{
		{"a primary", line, status(`{"role":"primary","seq":1204,"history":"d256d40bca53e528","durable":1204,
			"replicas":[{"peer":"10.0.0.9:52860","sent":1204,"image":false,"held":1203},{"peer":"10.0.0.8:1","sent":7,"image":true,"lags":true}]}`), said{0, `
			the router takes changes
			its directory is at change 1,204, in history d256d40bca53e528
			FOLLOWED BY     SENT   ON ITS DISK  LATE
			10.0.0.9:52860  1,204  1,203        -
			10.0.0.8:1      7      -            takes an image, lags
			`, ""}},
		{"a standby", line, status(`{"role":"replica","seq":21,"history":"d256d40bca53e528","durable":21,"replicas":[],"primary":"http://10.0.0.1:8090","connected":true,
			"primary_durable":22,"behind":1,"last_contact_ms":184,"images":0,"reconnects":0,"diverged":0}`), said{0, `
			the router follows http://10.0.0.1:8090
			connected, last heard of 184ms ago, 1 change behind
			its directory is at change 21, in history d256d40bca53e528
			no router follows it
			`, ""}},
		{"one that has lost its primary", line, status(`{"role":"replica","seq":21,"history":"d256d40bca53e528","primary":"http://10.0.0.1:8090",
			"last_contact_ms":61000,"error":"connection refused"}`), said{0, `
			the router follows http://10.0.0.1:8090
			NOT connected, last heard of 1m1s ago, 0 changes behind by then
			the last error: connection refused
			its directory is at change 21, in history d256d40bca53e528
			`, ""}},
		{"one that never had it", line, status(`{"role":"replica","seq":0,"history":"0000000000000000","incomplete":true,"primary":"http://10.0.0.1:8090",
			"last_contact_ms":-1}`), said{0, `
			the router follows http://10.0.0.1:8090
			NOT connected, never heard of
			it has never had the whole directory, and cannot be promoted
			its directory is at change 0, in history 0000000000000000
			`, ""}},
		{"a wrong token", line, []exchanged{{"GET /_replication/status", 401, `{"error":"the replication token is required"}`}},
			said{1, "", "fenec-shard ctl: replication: the router answered 401: the replication token is required (--replication-token or FENEC_REPLICATION_TOKEN)\n"}},
		{"promote, and it is none", "promote --replication-token replication-token", []exchanged{
			{"POST /_replication/promote", 409, `{"error":"the database is not a replica"}`},
		}, said{1, "", "fenec-shard ctl: promote: the router answered 409: the database is not a replica\n"}},
	})
}

func TestCtlPromote(t *testing.T) {
	f := newFakeShard(t,
		exchanged{"POST /_replication/promote", 0, `{"promoted":true,"seq":1204,"history":"d256d40bca53e528"}`},
		exchanged{"POST /_replication/promote?force=1", 0, `{"promoted":true,"seq":0,"history":"d256d40bca53e528"}`})
	begun := "the router at " + f.Listener.Addr().String() + " takes changes, from change "
	const key = " --replication-token replication-token"
	require.Equal(t, said{0, begun + "1,204 on\n", ""}, runCtl(t, f.URL, "promote"+key))
	require.Equal(t, said{0, begun + "0 on\n", ""}, runCtl(t, f.URL, "promote --force"+key))
}

// The token between routers can come from the environment, and nothing is asked without
// one.
func TestCtlReplicationKey(t *testing.T) {
	for _, line := range []string{"promote", "replication"} {
		got := runCtl(t, newFakeShard(t).URL, line)
		require.Equal(t, said{2, "", "fenec-shard ctl: " + line + ": --replication-token is missing\n"}, got)
	}
	t.Setenv("FENEC_REPLICATION_TOKEN", "replication-token")
	f := newFakeShard(t, exchanged{"POST /_replication/promote", 0, `{"promoted":true,"seq":1204}`})
	o, err := parseCtl([]string{"--router", f.URL, "promote"}, new(bytes.Buffer))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, o.run(t.Context(), &console{shard: newShard(o.router, o.token), out: &out}, nil))
	require.Contains(t, out.String(), "takes changes")
}
