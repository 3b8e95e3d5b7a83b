package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/secret"
)

// minSecret is the fewest bytes of a secret that tokens are signed with: as many
// as HMAC-SHA-256 puts out, RFC 7518, section 3.2.
const minSecret = 32

// check refuses flags that contradict each other, and settles what depends on
// several.
func (c *config) check() error {
	for _, check := range []func() error{c.checkData, c.jwt.check, c.checkRest} {
		if err := check(); err != nil {
			return err
		}
	}
	c.replicas.buffer = c.db.FeedBytes
	if !c.cdc {
		c.db.FeedBytes = 0
	}
	c.tenants.IdleClose, c.tenants.TrashKeep = orNone(c.tenants.IdleClose), orNone(c.tenants.TrashKeep)
	return nil
}

func (c *config) checkData() error {
	switch {
	case c.file != "" && c.dir != "":
		return errors.New("--file and --dir exclude each other")
	case c.cdc && c.file == "" && c.dir == "":
		return errors.New("--cdc needs --file or --dir")
	case c.cdc && c.db.Sync == fenec.SyncOff:
		return errors.New("--cdc and --sync off exclude each other")
	case c.lease && (c.dir == "" || c.adminToken.IsZero()):
		return errors.New("--lease needs --dir, and --admin-token for whoever grants it")
	}
	return c.checkReplicas()
}

func (c *config) checkReplicas() error {
	r := &c.replicas
	switch {
	case r.promote && c.file == "":
		return errors.New("--promote needs --file: tenants of a directory are promoted while it is served")
	case r.promote && r.primary != "":
		return errors.New("--promote and --replica-of exclude each other")
	case r.token.IsZero() && (r.primary != "" || r.held >= 0):
		return errors.New("--replica-of and --replicas-held need --replication-token")
	case r.token.IsZero():
		return nil
	case c.file == "" && c.dir == "":
		return errors.New("--replication-token needs --file or --dir")
	case c.db.Sync == fenec.SyncOff:
		return errors.New("--replication-token and --sync off exclude each other: what is not on disk is not replicated")
	}
	return nil
}

func (c *config) checkRest() error {
	switch {
	case (c.tls.cert == "") != (c.tls.key == ""):
		return errors.New("--tls-cert and --tls-key need each other")
	case c.studioConnect != "" && !c.studio:
		return errors.New("--studio-connect needs --studio")
	}
	return nil
}

func (j *jwtConfig) check() error {
	switch {
	case !j.secret.IsZero() && j.secretFile != "":
		return errors.New("--jwt-secret and --jwt-secret-file exclude each other")
	case j.keys != "" && (!j.secret.IsZero() || j.secretFile != ""):
		return errors.New("--jwt-secret and --jwt-keys exclude each other")
	case !j.secret.IsZero() && len(secret.Reveal(j.secret)) < minSecret:
		return fmt.Errorf("--jwt-secret needs %d bytes at least", minSecret)
	case j.mint != "" && !j.on():
		return errors.New("--mint-token needs --jwt-secret or --jwt-keys")
	case j.mint != "":
		return nil // nothing is served
	case j.on() && j.policy == "":
		return errors.New("--jwt-secret and --jwt-keys need --policy")
	case j.policy != "" && !j.on():
		return errors.New("--policy needs --jwt-secret or --jwt-keys")
	}
	return nil
}

// checkClaims says what is wrong with the claims of a token.
func checkClaims(s string) error {
	d := json.NewDecoder(strings.NewReader(s))
	var claims map[string]json.RawMessage
	if err := d.Decode(&claims); err != nil || claims == nil || d.More() {
		return errors.New("want a JSON object")
	}
	return nil
}

// checkOrigin says what is wrong with an origin, RFC 6454.
func checkOrigin(s string, star bool) error {
	if star && s == "*" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || s != u.Scheme+"://"+u.Host {
		return errors.New("want an origin, such as https://books.example")
	}
	return nil
}

// readEnvironment takes from the environment what no flag has said.
func (c *config) readEnvironment() error {
	if c.token.IsZero() {
		c.token = serve.NewSecret(os.Getenv("FENEC_HTTP_TOKEN"))
	}
	if c.replicas.token.IsZero() && (c.file != "" || c.dir != "") { // --ping has the same environment
		c.replicas.token = serve.NewSecret(os.Getenv("FENEC_REPLICATION_TOKEN"))
	}
	if !c.jwt.on() {
		c.jwt.secret = serve.NewSecret(os.Getenv("FENEC_JWT_SECRET"))
		c.jwt.keys = os.Getenv("FENEC_JWT_KEYS")
	}
	return c.otlp.readEnvironment()
}

// tracesPath is where a collector takes traces.
const tracesPath = "/v1/traces"

// readEnvironment reads the variables of OpenTelemetry: one names the place of
// the traces, the other that of everything.
func (o *otlpConfig) readEnvironment() (err error) {
	if traces := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); o.url == "" && traces != "" {
		if o.url, err = tracesURL(traces, ""); err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: %w", err)
		}
	}
	if all := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); o.url == "" && all != "" {
		if o.url, err = tracesURL(all, tracesPath); err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if o.url != "" && os.Getenv(name) == "grpc" {
			return fmt.Errorf("%s: traces are sent over HTTP only", name)
		}
	}
	return nil
}

// tracesURL returns where traces are sent to, given a collector's URL and the
// path below it.
func tracesURL(s, path string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("want an http:// URL")
	}
	if path == "" {
		return s, nil
	}
	return strings.TrimSuffix(strings.TrimSuffix(s, "/"), path) + path, nil
}
