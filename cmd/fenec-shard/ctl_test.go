package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCtlCommands(t *testing.T) {
	nodes := exchanged{"GET /_shard/nodes", 0, `[{"name":"n1","addr":"10.0.0.1:8080"},
		{"name":"node-2","addr":"10.0.0.2:8080","role":"dedicated","max_tenants":12000,"max_bytes":1500000000,"labels":{"zone":"b","disk":"ssd"},"draining":true}]`}
	for _, tc := range []struct {
		name, line string
		script     []exchanged
		prints     string
	}{
		{"nodes", "nodes", []exchanged{nodes}, `
			NODE    ADDRESS        ROLE                 MAX TENANTS  MAX BYTES  LABELS
			n1      10.0.0.1:8080  shared               -            -          -
			node-2  10.0.0.2:8080  dedicated, draining  12,000       1.50 GB    disk=ssd,zone=b
			`},
		{"node add", "node add n1 --addr 10.0.0.1:8080 --node-token secret", []exchanged{
			{`PUT /_shard/nodes/n1 {"addr":"10.0.0.1:8080","token":"secret"}`, 201, `{"node":"n1","unreplicated":[]}`},
		}, "n1 is recorded at 10.0.0.1:8080\n"},
		{"node add with attributes", "node add --role dedicated --addr 10.0.0.1:8080 n1 --node-token secret", []exchanged{
			{`PUT /_shard/nodes/n1 {"addr":"10.0.0.1:8080","token":"secret"}`, 201, `{"node":"n1"}`},
			nodes,
			{`PUT /_shard/nodes/n1/attrs {"role":"dedicated"}`, 200, `{}`},
		}, "n1 is recorded at 10.0.0.1:8080\n"},
		{"node set leaves the rest", "node set node-2 --max-tenants 0 --max-bytes 2GiB --label disk= --label rack=7", []exchanged{
			nodes,
			{`PUT /_shard/nodes/node-2/attrs {"role":"dedicated","max_bytes":2147483648,"labels":{"rack":"7","zone":"b"}}`, 200,
				`{"name":"node-2","addr":"10.0.0.2:8080","role":"dedicated","max_bytes":2147483648,"labels":{"rack":"7","zone":"b"}}`},
		}, `
			NODE    ADDRESS        ROLE       MAX TENANTS  MAX BYTES  LABELS
			node-2  10.0.0.2:8080  dedicated  -            2.15 GB    rack=7,zone=b
			`},
		{"node remove", "node remove n1", []exchanged{{"DELETE /_shard/nodes/n1", 204, ""}}, "n1 is forgotten\n"},
		{"tenants", "tenants", []exchanged{
			{"GET /_shard/tenants", 0, `[{"name":"acme","node":"n1","state":"active","epoch":1},
				{"name":"beta","node":"n2","state":"moving","to":"n1","status":"degraded","epoch":1204}]`},
		}, `
			TENANT  NODE  STATE         STATUS    EPOCH
			acme    n1    active        active    1
			beta    n2    moving to n1  degraded  1,204
			`},
		{"tenants with bytes", "tenants --bytes", []exchanged{
			{"GET /_shard/tenants?bytes", 0, `[{"name":"acme","node":"n1","state":"active","epoch":1,"bytes":58685634},{"name":"beta","node":"n2","state":"active","epoch":1}]`},
		}, `
			TENANT  NODE  STATE   STATUS  EPOCH  BYTES
			acme    n1    active  active  1      58.7 MB
			beta    n2    active  active  1      -
			`},
		{"create", "create acme", []exchanged{
			{"PUT /_shard/tenants/acme {}", 201, `{"tenant":"acme","node":"n1"}`},
		}, "acme is on n1\n"},
		{"create with everything", `create acme --node n2 --quota '{"rows":10}' --schema testdata/schema.json`, []exchanged{
			{`PUT /_shard/tenants/acme {"node":"n2","schema":{"format":1,"collections":[]},"quota":{"rows":10}}`, 201, `{"tenant":"acme","node":"n2","schema":{}}`},
		}, "acme is on n2\n"},
		{"create with statements", "create acme --schema testdata/schema.fql", []exchanged{
			{`PUT /_shard/tenants/acme {"schema":{"fenecql":"create collection notes (text text)\n","format":1}}`, 201, `{"tenant":"acme","node":"n2","schema":{}}`},
		}, "acme is on n2\n"},
		{"delete", "delete acme", []exchanged{{"DELETE /_shard/tenants/acme", 204, ""}}, "acme is deleted\n"},
		{"move", "move acme n2", []exchanged{
			{`POST /_shard/tenants/acme/move {"to":"n2"}`, 200, `{"tenant":"acme","from":"n1","to":"n2","bytes":58685634,"ms":1267,"source_removed":true}`},
		}, "acme moved from n1 to n2: 58.7 MB in 1,267 ms, 46.3 MB/s\n"},
		{"move that leaves a copy", "move acme n2", []exchanged{
			{`POST /_shard/tenants/acme/move {"to":"n2"}`, 200, `{"tenant":"acme","from":"n1","to":"n2","bytes":0,"ms":0,"source_removed":false}`},
		}, "acme moved from n1 to n2: 0 B in 0 ms, 0 B/s\nits old copy is still on n1; the router goes on trying to clear it away\n"},
		{"plan", "plan", []exchanged{
			{"GET /_shard/plan", 0, `{"moves":[{"tenant":"acme","from":"n1","to":"n2","bytes":58685634,"seconds":0.88,"why":"balance"},
				{"tenant":"b","from":"n1","to":"n3","bytes":12000000000,"seconds":178.82,"why":"draining"}],
				"stuck":[{"tenant":"gamma","why":"no node takes another tenant"}],"silent":["n4"],"bytes_per_second":67108864,"measured":false}`},
		}, `
			TENANT  FROM  TO  BYTES    TAKES  WHY
			acme    n1    n2  58.7 MB  880ms  balance
			b       n1    n3  12.0 GB  2m59s  draining
			2 moves, 12.1 GB, 3m0s one after the other
			gamma is not moved: no node takes another tenant
			node n4 did not answer and is left as it is
			`},
		{"empty plan", "plan", []exchanged{{"GET /_shard/plan", 0, `{"moves":[],"stuck":[],"silent":[]}`}}, "nothing is to be moved\n"},
		{"rebalance is a dry run", "rebalance", []exchanged{
			{`POST /_shard/rebalance {"dry_run":true}`, 0, `{"moves":[]}`},
		}, "nothing is to be moved\n"},
		{"rebalance", "rebalance --run", []exchanged{
			{`POST /_shard/rebalance {"dry_run":false}`, 202, `{"moves":[{"tenant":"a"},{"tenant":"b"}]}`},
			{"GET /_shard/rebalance", 0, `{"planned":2,"running":0,"done":0,"failed":[]}`},
			{"GET /_shard/rebalance", 0, `{"planned":2,"running":1,"done":1,"failed":[]}`},
			{"GET /_shard/rebalance", 0, `{"planned":2,"running":0,"done":2,"failed":[]}`},
		}, "2 of 2 moves made\n"},
		{"rebalance of what is even", "rebalance --run", []exchanged{
			{`POST /_shard/rebalance {"dry_run":false}`, 202, `{"moves":[]}`},
			{"GET /_shard/rebalance", 0, `{"planned":0,"running":0,"done":0,"failed":[]}`},
		}, "nothing is to be moved\n"},
		{"rebalance that nobody waits for", "rebalance --run --no-wait", []exchanged{
			{`POST /_shard/rebalance {"dry_run":false}`, 202, `{"moves":[{"tenant":"a","from":"n1","to":"n2","bytes":1,"seconds":0.01,"why":"balance"}]}`},
		}, `
			TENANT  FROM  TO  BYTES  TAKES  WHY
			a       n1    n2  1 B    10ms   balance
			1 move, 1 B, 10ms one after the other
			`},
		{"drain", "drain n1", []exchanged{
			{"POST /_shard/nodes/n1/drain", 202, `{"node":"n1","left":3,"moving":0,"failed":[]}`},
			{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":2,"moving":2,"failed":[]}`},
			{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":0,"replicas":2,"moving":1,"failed":[]}`},
			{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":0,"replicas":0,"moving":0,"failed":[]}`},
		}, "n1 is empty, and no tenants are placed there\n"},
		{"drain that nobody waits for", "drain --no-wait n1", []exchanged{
			{"POST /_shard/nodes/n1/drain", 202, `{"node":"n1","left":1200,"moving":2,"failed":[]}`},
		}, "NODE  LEFT   REPLICAS  MOVING\nn1    1,200  0         2\n"},
		{"drain status", "drain status n1", []exchanged{
			{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":1,"moving":0,"failed":[{"tenant":"acme","why":"no node takes another tenant"}]}`},
		}, `
			NODE  LEFT  REPLICAS  MOVING
			n1    1     0         0
			acme is not moved: no node takes another tenant
			`},
		{"undrain", "undrain n1", []exchanged{{"POST /_shard/nodes/n1/undrain", 204, ""}}, "n1 may have tenants again\n"},
		{"quota get", "quota get acme", []exchanged{
			{"GET /_shard/tenants/acme/quota", 0, `{"bytes":1000000000,"rows":1000000,"requests_per_second":50}`},
		}, `
			LIMIT                IS
			bytes                1.00 GB
			rows                 1,000,000
			requests_per_second  50
			`},
		{"no quota", "quota get acme", []exchanged{{"GET /_shard/tenants/acme/quota", 0, `{}`}}, "no limits\n"},
		{"quota set leaves the rest", "quota set acme --bytes 2GB --rows 0", []exchanged{
			{"GET /_shard/tenants/acme/quota", 0, `{"rows":5,"streams":8}`},
			{`PUT /_shard/tenants/acme/quota {"bytes":2000000000,"streams":8}`, 0,
				`{"tenant":"acme","quota":{"bytes":2000000000,"streams":8},"sent":[],"unsent":["n1"]}`},
		}, `
			LIMIT    IS
			bytes    2.00 GB
			streams  8
			node n1 has not taken it yet
			`},
		{"quota as JSON", `quota set acme '{"rows": 5}'`, []exchanged{
			{`PUT /_shard/tenants/acme/quota {"rows":5}`, 0, `{"tenant":"acme","quota":{"rows":5},"sent":["n1"],"unsent":[]}`},
		}, "LIMIT  IS\nrows   5\n"},
		{"quota clear", "quota clear acme", []exchanged{
			{"PUT /_shard/tenants/acme/quota {}", 0, `{"tenant":"acme","quota":{},"sent":["n1"],"unsent":[]}`},
		}, "no limits\n"},
		{"usage", "usage acme", []exchanged{
			{"GET /_shard/tenants/acme/usage", 0, `{"bytes":250000000,"rows":1204,"streams":0,"requests":2,"disk":301000000,"quota":{"bytes":1000000000,"rows_per_second":100}}`},
		}, `
			WHAT             USED    LIMIT    OF IT
			bytes            250 MB  1.00 GB  25%
			rows             1,204   -        -
			streams          0       -        -
			requests         2       -        -
			rows_per_second  -       100      -
			disk             301 MB  -        -
			`},
		{"quota unsent", "quota unsent", []exchanged{
			{"GET /_shard/unsent", 0, `[{"tenant":"acme","node":"n1","quota":{"bytes":2000000000,"rows":5}},{"tenant":"beta","node":"n2","quota":{}}]`},
		}, `
			TENANT  NODE  LIMITS
			acme    n1    bytes=2.00 GB, rows=5
			beta    n2    none
			`},
		{"nothing unsent", "quota unsent", []exchanged{{"GET /_shard/unsent", 0, `[]`}}, "all nodes have the limits of their tenants\n"},
		{"undelete", "undelete acme", []exchanged{
			{"POST /_shard/tenants/acme/undelete {}", 0, `{"tenant":"acme","node":"n2","seq":1204,"frozen":false,"quota":{}}`},
		}, "acme is on n2, at change 1,204\n"},
		{"undelete on a node", "undelete acme n1", []exchanged{
			{`POST /_shard/tenants/acme/undelete {"node":"n1"}`, 0, `{"tenant":"acme","node":"n1","seq":3,"frozen":false,"quota":{"rows":5}}`},
		}, "acme is on n1, at change 3\n"},
		{"thaw", "thaw acme", []exchanged{
			{"POST /_shard/tenants/acme/thaw", 0, `{"tenant":"acme","node":"n1","frozen":false}`},
		}, "acme takes writes on n1\n"},
		{"strays", "strays", []exchanged{
			{"GET /_shard/strays", 0, `[{"tenant":"acme","node":"n1","seq":1204,"placed":"n2"},{"tenant":"beta","node":"n3"}]`},
		}, `
			TENANT  COPY ON  LEFT AT  TENANT IS ON
			acme    n1       1,204    n2
			beta    n3       -        -
			`},
		{"no strays", "strays", []exchanged{{"GET /_shard/strays", 0, `[]`}}, "nothing is to be cleared away\n"},
		{"unplaced", "unplaced", []exchanged{
			{"GET /_shard/unplaced", 0, `{"files":[{"tenant":"acme","node":"n1","bytes":58685634},{"tenant":"beta","node":"n2","bytes":4096,"placed":"n1"}],"silent":["n3"]}`},
		}, `
			TENANT  FILE ON  BYTES    TENANT IS ON
			acme    n1       58.7 MB  -
			beta    n2       4.10 kB  n1
			node n3 did not answer and may have more
			`},
		{"nothing unplaced", "unplaced", []exchanged{{"GET /_shard/unplaced", 0, `{"files":[],"silent":[]}`}}, "the router knows of all files\n"},
		{"adopt", "adopt acme", []exchanged{
			{"POST /_shard/tenants/acme/adopt {}", 0, `{"tenant":"acme","node":"n1","seq":12,"frozen":false,"quota":{}}`},
		}, "acme is on n1, at change 12\n"},
		{"adopt a frozen one", "adopt acme n2", []exchanged{
			{`POST /_shard/tenants/acme/adopt {"node":"n2"}`, 0, `{"tenant":"acme","node":"n2","seq":12,"frozen":true,"quota":{}}`},
		}, "acme is on n2, at change 12\nit is frozen there; thaw ends that\n"},
		{"adopt by force", "adopt acme n2 --force", []exchanged{
			{`POST /_shard/tenants/acme/adopt {"force":true,"node":"n2"}`, 0, `{"tenant":"acme","node":"n2","seq":12,"frozen":false,"quota":{}}`},
		}, "acme is on n2, at change 12\n"},
		{"status set", "status set acme degraded --why 'its disk is full'", []exchanged{
			{`PUT /_shard/tenants/acme/status {"status":"degraded","why":"its disk is full"}`, 0, `{"tenant":"acme","status":"degraded","why":"its disk is full"}`},
		}, "acme is degraded\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := runCtl(t, newFakeShard(t, tc.script...).URL, tc.line)
			require.Equal(t, said{0, golden(tc.prints), ""}, got)
		})
	}
}

// Scripts get what the router says, and nothing of what is for people.
func TestCtlRaw(t *testing.T) {
	for _, tc := range []struct {
		line   string
		script []exchanged
		prints string
	}{
		{"nodes --json", []exchanged{{"GET /_shard/nodes", 0, `[ {"name":"n1","new":1} ]` + "\n"}}, `[ {"name":"n1","new":1} ]` + "\n"},
		{"--json delete acme", []exchanged{{"DELETE /_shard/tenants/acme", 204, ""}}, ""},
		{"move acme n2 --json", []exchanged{{`POST /_shard/tenants/acme/move {"to":"n2"}`, 0, `{"tenant":"acme","ms":1}`}}, `{"tenant":"acme","ms":1}` + "\n"},
		{"drain n1 --json", []exchanged{
			{"POST /_shard/nodes/n1/drain", 202, `{"node":"n1","left":1}`},
			{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":0}`},
		}, `{"node":"n1","left":0}` + "\n"},
	} {
		t.Run(tc.line, func(t *testing.T) {
			got := runCtl(t, newFakeShard(t, tc.script...).URL, tc.line)
			require.Equal(t, said{0, tc.prints, ""}, got)
		})
	}
}

func TestCtlRefusals(t *testing.T) {
	for _, tc := range []struct {
		name, line string
		script     []exchanged
		says       string
	}{
		{"with a code", "move acme n2", []exchanged{
			{`POST /_shard/tenants/acme/move {"to":"n2"}`, 404, `{"error":"tenant acme: unknown tenant","code":"unknown-tenant"}`},
		}, "fenec-shard ctl: move: the router answered 404: tenant acme: unknown tenant (unknown-tenant)\n"},
		{"several copies", "adopt acme", []exchanged{
			{"POST /_shard/tenants/acme/adopt {}", 409, `{"error":"tenant acme: several nodes have it, name one: node n1 (at 12, frozen), node n2 (at 14)","copies":[{"node":"n1","seq":12,"frozen":true}]}`},
		}, "fenec-shard ctl: adopt: the router answered 409: tenant acme: several nodes have it, name one: node n1 (at 12, frozen), node n2 (at 14)\n"},
		{"without", "node remove n1", []exchanged{
			{"DELETE /_shard/nodes/n1", 409, `{"error":"node n1: tenants are placed on the node"}`},
		}, "fenec-shard ctl: node remove: the router answered 409: node n1: tenants are placed on the node\n"},
		{"the token", "nodes", []exchanged{{"GET /_shard/nodes", 401, `{"error":"the router's token is required"}`}},
			"fenec-shard ctl: nodes: the router answered 401: the router's token is required (--token or FENEC_SHARD_TOKEN)\n"},
		{"not the router's form", "nodes", []exchanged{{"GET /_shard/nodes", 502, "<html>"}},
			"fenec-shard ctl: nodes: the router answered 502: Bad Gateway\n"},
		{"no JSON", "plan", []exchanged{{"GET /_shard/plan", 200, "<html>"}},
			"fenec-shard ctl: plan: the router's answer: invalid character '<' looking for beginning of value\n"},
		{"a redirect is not followed", "nodes", []exchanged{{"GET /_shard/nodes", 302, ""}},
			"fenec-shard ctl: nodes: the router answered 302: Found\n"},
		{"attributes of an unknown node", "node set n9 --role shared", []exchanged{{"GET /_shard/nodes", 0, `[{"name":"n1"}]`}},
			"fenec-shard ctl: node set: the router has no node n9\n"},
		{"attributes that are not set", "node add n1 --addr a:1 --node-token x --max-tenants 4", []exchanged{
			{`PUT /_shard/nodes/n1 {"addr":"a:1","token":"x"}`, 201, `{}`},
			{"GET /_shard/nodes", 0, `[{"name":"n1","addr":"a:1"}]`},
			{`PUT /_shard/nodes/n1/attrs {"max_tenants":4}`, 500, `{"error":"directory: disk full"}`},
		}, "fenec-shard ctl: node add: the node is recorded, but not its attributes: the router answered 500: directory: disk full\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := runCtl(t, newFakeShard(t, tc.script...).URL, tc.line)
			require.Equal(t, said{1, "", tc.says}, got)
		})
	}
}

func TestCtlSilentRouter(t *testing.T) {
	f := newFakeShard(t)
	f.Close()
	got := runCtl(t, f.URL, "tenants")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "fenec-shard ctl: tenants: the router at "+f.URL+" did not answer: ")
	require.Contains(t, got.stderr, "refused")
	require.NotContains(t, got.stderr, "shard-token")
}

// What is wrong with the arguments is found before anything is asked.
func TestCtlMisuse(t *testing.T) {
	for line, says := range map[string]string{
		"":                              "no command",
		"nodes --router":                "-router",
		"--router 127.0.0.1:8090 nodes": "want a URL such as",
		"--router http://h/x nodes":     "want a URL such as",
		"--router ftp://h nodes":        "want a URL such as",
		"--bogus":                       "-bogus",
		"nodes --bogus":                 "-bogus",
		"fly acme":                      `unknown command "fly acme"`,
		"node":                          `unknown command "node"`,
		"nodes n1":                      `nodes: unexpected argument "n1"`,
		"move acme":                     "move: <node> is missing",
		"move Acme n1":                  `move: tenant "Acme": a name is 1 to 64`,
		"move acme n/1":                 `move: node "n/1": a name is 1 to 64`,
		"drain status":                  "drain status: <node> is missing",
		"node add n1 --node-token x":    "node add: --addr is missing",
		"node add n1 --addr a:1":        "node add: --node-token is missing",
		"node set n1":                   "node set: nothing is to be set",
		"node set n1 --role master":     "want shared or dedicated",
		"node set n1 --max-tenants -1":  "want a number, 0 or above",
		"node set n1 --max-bytes many":  "want a size such as",
		"node set n1 --label zone":      "want name=value",
		"node set n1 --standby n2":      "node set: --node-token is missing",
		"node set n1 --no-standby":      "node set: --node-token is missing",
		"node set n1 --standby N2":      "a name is 1 to 64",
		"node set n1 --standby n2 --no-standby --node-token x": "exclude each other",
		"failover":                          "failover: <node> is missing",
		"failover n1 n2":                    `failover: unexpected argument "n2"`,
		"replicas of":                       `replicas: unexpected argument "of"`,
		"create acme --quota {":             "not JSON",
		"create acme --schema /nonexistent": "no such file",
		"quota set acme":                    "quota set: no limit is given",
		"quota set acme --rows many":        "want a number",
		"quota set acme --rows -1":          "want a number",
		"quota set acme '{\"row\":1}'":      `unknown key "row"`,
		"quota set acme {} --rows 1":        "not both",
		"adopt acme N1":                     `adopt: node "N1": a name is 1 to 64`,
		"adopt":                             "adopt: <tenant> is missing",
		"adopt acme --force":                "adopt: --force takes the node that has the file, too",
		"undelete acme n1 n2":               `undelete: unexpected argument "n2"`,
		"thaw":                              "thaw: <tenant> is missing",
		"status set acme asleep":            `status "asleep": want active`,
	} {
		t.Run(line, func(t *testing.T) {
			got := runCtl(t, newFakeShard(t).URL, line)
			require.Equal(t, 2, got.code, got.stderr)
			require.Contains(t, got.stderr, says)
			require.Empty(t, got.stdout)
		})
	}
}

func TestCtlHelp(t *testing.T) {
	all := runCtl(t, "http://h", "--help")
	require.Equal(t, 0, all.code)
	for _, c := range commands {
		require.Contains(t, all.stderr, "  "+c.name)
	}
	one := runCtl(t, "http://h", "node add -h")
	require.Equal(t, 0, one.code)
	require.Contains(t, one.stderr, "--node-token")
	require.NotContains(t, one.stderr, "rebalance")
}

// A rebalance of which something could not be done is an error, but not before all that
// was planned has ended.
func TestCtlRebalanceThatFails(t *testing.T) {
	got := runCtl(t, newFakeShard(t,
		exchanged{`POST /_shard/rebalance {"dry_run":false}`, 202, `{"moves":[{"tenant":"a"},{"tenant":"b"}],"stuck":[{"tenant":"c","why":"full"},{"tenant":"d","why":"full"}]}`},
		exchanged{"GET /_shard/rebalance", 0, `{"planned":2,"running":0,"done":0,"failed":[{"tenant":"c","why":"full"},{"tenant":"d","why":"full"}]}`},
		exchanged{"GET /_shard/rebalance", 0, `{"planned":2,"running":0,"done":1,"failed":[{"tenant":"b","why":"x"},{"tenant":"c","why":"full"},{"tenant":"d","why":"full"}]}`},
	).URL, "rebalance --run")
	require.Equal(t, said{1, "1 of 2 moves made\nb is not moved: x\nc is not moved: full\nd is not moved: full\n",
		"fenec-shard ctl: rebalance: 3 tenants could not be moved\n"}, got)
}

// A router that was started anew knows nothing of the rebalance.
func TestCtlRebalanceThatIsForgotten(t *testing.T) {
	got := runCtl(t, newFakeShard(t,
		exchanged{`POST /_shard/rebalance {"dry_run":false}`, 202, `{"moves":[{"tenant":"a"},{"tenant":"b"}]}`},
		exchanged{"GET /_shard/rebalance", 0, `{"planned":2,"running":1,"done":1,"failed":[]}`},
		exchanged{"GET /_shard/rebalance", 0, `{"planned":0,"running":0,"done":0,"failed":[]}`},
	).URL, "rebalance --run")
	require.Equal(t, said{1, "", "fenec-shard ctl: rebalance: " + errForgotten.Error() + "\n"}, got)
}

// A drain that comes no further is left to the router after a while.
func TestCtlDrainThatIsStuck(t *testing.T) {
	stuck := exchanged{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":1,"moving":0,"failed":[{"tenant":"a","why":"full"}]}`}
	script := []exchanged{
		{"POST /_shard/nodes/n1/drain", 202, `{"node":"n1","left":2,"moving":0,"failed":[]}`},
		stuck, stuck,
		{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":1,"moving":1,"failed":[]}`},
	}
	for range patience {
		script = append(script, stuck)
	}
	got := runCtl(t, newFakeShard(t, script...).URL, "drain n1")
	require.Equal(t, said{1, "NODE  LEFT  REPLICAS  MOVING\nn1    1     0         0\na is not moved: full\n",
		"fenec-shard ctl: drain: 1 tenant cannot be moved off now; the router goes on trying\n"}, got)
}

// Replicas that no other node takes are told of when the tenants are gone.
func TestCtlDrainThatLeavesReplicas(t *testing.T) {
	script := []exchanged{{"POST /_shard/nodes/n1/drain", 202, `{"node":"n1","left":1,"replicas":1,"moving":1,"failed":[]}`}}
	for range patience {
		script = append(script, exchanged{"GET /_shard/nodes/n1/drain", 0,
			`{"node":"n1","left":0,"replicas":1,"moving":0,"failed":[{"tenant":"a","why":"its replica: no other node"}]}`})
	}
	got := runCtl(t, newFakeShard(t, script...).URL, "drain n1")
	require.Equal(t, said{1, "NODE  LEFT  REPLICAS  MOVING\nn1    0     1         0\na is not moved: its replica: no other node\n",
		"fenec-shard ctl: drain: all tenants are moved off, but 1 replica cannot be placed elsewhere now; the router goes on trying\n"}, got)
}

// Whoever stops waiting is told that the router does not.
func TestCtlStopsWaiting(t *testing.T) {
	f := newFakeShard(t,
		exchanged{"POST /_shard/nodes/n1/drain", 202, `{"node":"n1","left":2}`},
		exchanged{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":2,"moving":2}`},
	)
	var stdout bytes.Buffer
	got := runOn(t, f.URL, "drain n1", &stdout, console{out: &stdout, pause: func(context.Context, time.Duration) error { return context.Canceled }})
	require.Equal(t, said{1, "", "fenec-shard ctl: drain: nobody waits any more; the router goes on\n"}, got)
}

func TestPause(t *testing.T) {
	require.NoError(t, pause(t.Context(), 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, pause(ctx, time.Hour), context.Canceled)
}

func TestCtlBrokenPipe(t *testing.T) {
	var stderr bytes.Buffer
	t.Setenv("FENEC_SHARD_TOKEN", "shard-token")
	f := newFakeShard(t, exchanged{"GET /_shard/plan", 0, `{"moves":[]}`})
	code := control([]string{"--router", f.URL, "plan"}, console{out: brokenWriter{}}, &stderr)
	require.Equal(t, 1, code)
	require.Equal(t, "fenec-shard ctl: plan: broken pipe\n", stderr.String())
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
