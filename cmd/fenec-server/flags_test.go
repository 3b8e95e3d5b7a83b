package main

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
)

// unset keeps the environment of whoever runs the tests out of them.
func unset(t *testing.T) {
	for _, name := range []string{
		"FENEC_HTTP_TOKEN", "FENEC_JWT_SECRET", "FENEC_JWT_KEYS", "FENEC_REPLICATION_TOKEN",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
	} {
		t.Setenv(name, "") // an empty one is none
	}
}

var longSecret = strings.Repeat("s", 32)

func TestExitCodes(t *testing.T) {
	unset(t)
	for _, tc := range []struct {
		args string // separated by blanks
		code int
		says string
	}{
		{"--help", 0, "--http-token"},
		{"-h", 0, "--statement-timeout"},
		{"--bogus", 2, "bogus"},
		{"--http", 2, "http"},
		{"books.fenec", 2, "books.fenec"},
		{"--sync soon", 2, "soon"},
		{"--changes 0", 2, "changes"},
		{"--changes many", 2, "many"},
		{"--max-connections -1", 2, "max-connections"},
		{"--max-connections 2147483648", 2, "max-connections"},
		{"--idle-timeout 1.5", 2, "idle-timeout"},
		{"--idle-close -1", 2, "idle-close"},
		{"--http-keepalive 0", 2, "http-keepalive"},
		{"--http-max-streams -1", 2, "http-max-streams"},
		{"--idempotency-ttl 0", 2, "idempotency-ttl"},
		{"--replication-buffer 0", 2, "replication-buffer"},
		{"--max-memory -1", 2, "max-memory"},
		{"--statement-timeout soon", 2, "statement-timeout"},
		{"--slow-ms -1", 2, "slow-ms"},
		{"--auth-delay -1", 2, "auth-delay"},
		{"--auto-compact 1.5", 2, "auto-compact"},
		{"--auto-compact NaN", 2, "auto-compact"},
		{"--warm a,,b", 2, "warm"},
		{"--trace-sample 2", 2, "trace-sample"},
		{"--http-cors a.example", 2, "http-cors"},
		{"--http-cors https://a.example/", 2, "http-cors"},
		{"--studio --studio-connect *", 2, "studio-connect"},
		{"--otlp-endpoint https://collector:4318", 2, "http://"},
		{"--otlp-endpoint grpc://collector:4317", 2, "http://"},
		{"--otlp-header nothing", 2, "otlp-header"},
		{"--jwt-require-exp maybe", 2, "jwt-require-exp"},
		{"--mint-token [] --jwt-secret " + longSecret, 2, "JSON object"},
		{"--mint-token null --jwt-secret " + longSecret, 2, "JSON object"},
		{"--mint-token {}{} --jwt-secret " + longSecret, 2, "JSON object"},

		{"--file a --dir b", 2, "exclude"},
		{"--cdc", 2, "--file"},
		{"--cdc --file a --sync off", 2, "--sync off"},
		{"--lease --admin-token a", 2, "--dir"},
		{"--lease --file a --admin-token a", 2, "--dir"},
		{"--lease --dir a", 2, "--admin-token"},
		{"--replication-token r", 2, "--file or --dir"},
		{"--replication-token r --dir a --sync off", 2, "--sync off"},
		{"--replication-token r --file a --sync off", 2, "--sync off"},
		{"--replica-of http://a:1 --file a", 2, "--replication-token"},
		{"--replication-token r --file a --replica-of https://a:1", 2, "http://"},
		{"--replication-token r --file a --replica-of http://a:1/t/b", 2, "path"},
		{"--replication-token r --file a --replica-of http://b:1 --promote", 2, "--promote and --replica-of"},
		{"--promote", 2, "--file"},
		{"--promote --dir a", 2, "--file"},
		{"--replica-of http://a:1 --dir a", 2, "--replication-token"},
		{"--replicas-held 1 --dir a", 2, "--replication-token"},
		{"--replication-token r --dir a --replica-of https://a:1", 2, "http://"},
		{"--replication-token r --dir a --replica-of http://a:1/t", 2, "path"},
		{"--replication-token r --dir a --replica-of http://a", 2, "port"},
		{"--replicas-held -1", 2, "replicas-held"},
		{"--studio-connect https://a.example", 2, "--studio"},
		{"--tls-cert a", 2, "--tls-key"},
		{"--tls-key a", 2, "--tls-cert"},
		{"--jwt-secret short --policy p", 2, "32 bytes"},
		{"--jwt-secret " + longSecret, 2, "--policy"},
		{"--jwt-secret-file s", 2, "--policy"},
		{"--jwt-keys k", 2, "--policy"},
		{"--policy p", 2, "--jwt-"},
		{"--jwt-secret " + longSecret + " --jwt-keys k --policy p", 2, "exclude"},
		{"--jwt-secret-file s --jwt-keys k --policy p", 2, "exclude"},
		{"--jwt-secret " + longSecret + " --jwt-secret-file s --policy p", 2, "exclude"},
		{"--mint-token {}", 2, "--jwt-"},

		{"--http 0.0.0.0:0", 1, "--http-token"},
		{"--file /nonexistent/x.fenec", 1, "nonexistent"},
		{"--http 127.0.0.1:x", 1, "127.0.0.1:x"},
		{"--tls-cert /nonexistent/c --tls-key /nonexistent/k", 1, "nonexistent"},
		{"--ping --http 127.0.0.1:1", 1, ""},
	} {
		t.Run(tc.args, func(t *testing.T) {
			var stderr bytes.Buffer
			require.Equal(t, tc.code, run(strings.Fields(tc.args), &stderr), stderr.String())
			require.Contains(t, stderr.String(), tc.says)
			require.NotContains(t, stderr.String(), longSecret)
		})
	}
}

func TestDefaults(t *testing.T) {
	unset(t)
	cfg, err := parse(nil, io.Discard)
	require.NoError(t, err)
	require.Equal(t, config{
		listen: "127.0.0.1:8080", maxConnections: 100, idleTimeout: time.Minute,
		db:         fenec.Options{HistoryEntries: 1_000_000},
		tenants:    tenant.Options{IdleClose: 5 * time.Minute, Wait: 5 * time.Second, TrashKeep: 24 * time.Hour},
		replicas:   replicasConfig{buffer: 64 << 20, held: -1},
		authDelay:  100 * time.Millisecond,
		jwt:        jwtConfig{requireExp: true, tenantClaim: "tenant"},
		maxStreams: 64, keepAlive: 20 * time.Second, idempotencyTTL: 24 * time.Hour, slow: -1,
		otlp: otlpConfig{sample: 1},
	}, cfg)
}

func TestFlags(t *testing.T) {
	unset(t)
	cfg, err := parse(strings.Fields("-f x.fenec --http 127.0.0.1:1 --metrics 127.0.0.1:2 --http-token t --admin-token a "+
		"--http-cors https://a.example:8443 --http-read-only --http-max-streams 0 --http-keepalive 1 --changes 7 --idempotency-ttl 2 "+
		"--max-connections 0 --idle-timeout 0 --max-memory 3 --sync always --no-checkpoint --insecure --slow-ms 0 "+
		"--jwt-keys k --policy p --jwt-require-exp off --jwt-max-age 4 --jwt-tenant-claim c --jwt-unbound-tenants --auth-delay 0 "+
		"--audit log --cdc --replication-buffer 5 --no-mmap --warm books,notes --auto-compact off --tls-cert c --tls-key k "+
		"--statement-timeout 6 --studio --studio-connect http://b --otlp-endpoint http://c:4318/ --otlp-header n=v=w --otlp-header m= --trace-sample 0.5 "+
		"--idle-close 0 --max-open 8 --max-in-flight 9 --max-in-flight-tenant 10 --in-flight-wait 11 --trash-keep 0 --max-import 12"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, config{
		file: "x.fenec", listen: "127.0.0.1:1", metrics: "127.0.0.1:2", token: serve.NewSecret("t"), adminToken: serve.NewSecret("a"),
		cors: "https://a.example:8443", readOnly: true, keepAlive: time.Second, idempotencyTTL: 2 * time.Second,
		db: fenec.Options{
			Sync: fenec.SyncAlways, HistoryEntries: 7, MaxMemory: 3 << 20, FeedBytes: 5 << 20, NoCheckpoint: true, CompactRatio: -1,
		},
		tenants: tenant.Options{
			IdleClose: -1, MaxOpen: 8, MaxInFlight: 9, MaxInFlightTenant: 10, Wait: 11 * time.Millisecond, TrashKeep: -1, MaxImport: 12 << 20,
		},
		replicas: replicasConfig{buffer: 5 << 20, held: -1},
		insecure: true, slow: 0, audit: "log", cdc: true,
		jwt:  jwtConfig{keys: "k", policy: "p", maxAge: 4 * time.Second, tenantClaim: "c", unbound: true},
		warm: warmth{collections: []string{"books", "notes"}}, tls: certFiles{"c", "k"}, statementTimeout: 6 * time.Millisecond,
		studio: true, studioConnect: "http://b",
		otlp: otlpConfig{url: "http://c:4318/v1/traces", headers: [][2]string{{"n", "v=w"}, {"m", ""}}, sample: 0.5},
	}, cfg)

	for flag, want := range map[string]float64{"0": math.SmallestNonzeroFloat64, "0.25": 0.25, "1": 1} {
		cfg, err = parse([]string{"--auto-compact", flag}, io.Discard)
		require.NoError(t, err)
		require.Equal(t, want, cfg.db.CompactRatio)
	}
	cfg, err = parse(strings.Fields(`--mint-token {"sub":"ada"} --jwt-secret `+longSecret), io.Discard)
	require.NoError(t, err)
	require.Equal(t, `{"sub":"ada"}`, cfg.jwt.mint)
	cfg, err = parse(strings.Fields("--dir d --admin-token a --lease"), io.Discard)
	require.NoError(t, err)
	require.True(t, cfg.lease)
	cfg, err = parse(strings.Fields("--dir d --replication-token r --replica-of http://10.0.0.7:8080/ --replication-buffer 6 --replicas-held 0"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, replicasConfig{token: serve.NewSecret("r"), primary: "http://10.0.0.7:8080", buffer: 6 << 20}, cfg.replicas)
}

func TestEnvironment(t *testing.T) {
	unset(t)
	t.Setenv("FENEC_HTTP_TOKEN", "of-the-environment")
	t.Setenv("FENEC_JWT_SECRET", longSecret)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/base")
	cfg, err := parse([]string{"--policy", "p"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, serve.NewSecret("of-the-environment"), cfg.token)
	require.Equal(t, serve.NewSecret(longSecret), cfg.jwt.secret)
	require.Equal(t, "http://c:4318/base/v1/traces", cfg.otlp.url)

	t.Setenv("FENEC_REPLICATION_TOKEN", "of-the-environment")
	cfg, err = parse(strings.Fields("--policy p --dir d"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, serve.NewSecret("of-the-environment"), cfg.replicas.token)
	_, err = parse(strings.Fields("--policy p --ping"), io.Discard)
	require.NoError(t, err, "what asks a server has its environment, and not its other flags")
	t.Setenv("FENEC_REPLICATION_TOKEN", "")

	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c:4318/exactly")
	cfg, err = parse(strings.Fields("--http-token of-the-flag --jwt-keys k --policy p"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, serve.NewSecret("of-the-flag"), cfg.token)
	require.Empty(t, cfg.jwt.secret, "a flag that names keys is the only one")
	require.Equal(t, "k", cfg.jwt.keys)
	require.Equal(t, "http://c:4318/exactly", cfg.otlp.url)

	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	_, err = parse([]string{"--policy", "p"}, io.Discard)
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_PROTOCOL")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c")
	_, err = parse([]string{"--policy", "p"}, io.Discard)
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
	t.Setenv("FENEC_JWT_KEYS", "k")
	_, err = parse([]string{"--policy", "p"}, io.Discard)
	require.ErrorContains(t, err, "exclude")
}

// Every flag is in the help.
func TestHelpIsWhole(t *testing.T) {
	for _, name := range strings.Fields(`file dir http http-token admin-token http-cors http-read-only http-max-streams http-keepalive changes
		idempotency-ttl max-connections idle-timeout max-memory sync no-checkpoint insecure slow-ms metrics ping jwt-secret jwt-secret-file
		jwt-keys policy jwt-require-exp jwt-max-age mint-token jwt-tenant-claim jwt-unbound-tenants auth-delay audit cdc replication-buffer
		warm auto-compact tls-cert tls-key statement-timeout studio studio-connect otlp-endpoint otlp-header trace-sample idle-close lease replication-token
		replica-of replicas-held promote`) {
		require.Contains(t, usage, "--"+name+" ", name)
	}
}
