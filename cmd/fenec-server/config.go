package main

import (
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/tenant"
)

// config is what the flags and the environment say.
type config struct {
	file, dir string
	db        fenec.Options
	tenants   tenant.Options // of a directory
	lease     bool           // it is written only under a router's lease
	replicas  replicasConfig
	warm      warmth
	ping      bool

	listen         string
	metrics        string // address of the listener for metrics alone, "" for none
	maxConnections int    // 0 is no limit
	idleTimeout    time.Duration
	tls            certFiles

	token, adminToken serve.Secret
	insecure          bool
	readOnly          bool
	cors              string // "*", an origin, or "" for none
	authDelay         time.Duration
	audit             string // file, "" for none
	jwt               jwtConfig

	maxStreams       int           // 0 is no limit
	keepAlive        time.Duration // between the comments of a silent stream
	idempotencyTTL   time.Duration
	statementTimeout time.Duration // 0 is none
	slow             time.Duration // statements this slow are logged; negative is none
	cdc              bool

	studio        bool
	studioConnect string // origin the studio may also speak to, "" for none
	otlp          otlpConfig
}

// warmth says which graphs are loaded in the background once a database is open.
type warmth struct {
	all         bool
	collections []string
}

// replicasConfig says what part a file or a directory has in replication.
type replicasConfig struct {
	token   serve.Secret // without it, none
	primary string       // URL of the server that all of it follows, "" for none
	promote bool         // the file takes writes though it has followed another
	buffer  int64        // bytes of writes that are kept for replicas
	held    int          // replicas that must hold a write; negative if they are not asked
}

// certFiles names the files of a certificate and its key; both or neither.
type certFiles struct{ cert, key string }

// jwtConfig says which JSON Web Tokens are taken, and for what.
type jwtConfig struct {
	secret     serve.Secret // at most one of these three is set
	secretFile string
	keys       string // file of a key set

	policy      string // file
	requireExp  bool
	maxAge      time.Duration // 0 is no limit
	tenantClaim string
	unbound     bool   // tokens that name no tenant reach all of them
	mint        string // claims of a token to print, "" for none
}

// on reports whether tokens are taken.
func (j jwtConfig) on() bool { return !j.secret.IsZero() || j.secretFile != "" || j.keys != "" }

// otlpConfig says where traces go.
type otlpConfig struct {
	url     string // of the traces, "" for none
	headers [][2]string
	sample  float64 // share of requests that are traced
}

func (c config) guard() process.Guard {
	return process.Guard{
		Token:     !c.token.IsZero() || c.jwt.on(),
		ReadOnly:  c.readOnly,
		TLS:       c.tls.cert != "",
		Insecure:  c.insecure,
		TokenFlag: "--http-token",
	}
}
