package serve

import (
	"cmp"
	"log"
	"slices"
	"time"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rules"
)

// TokenOptions say which JSON Web Tokens (RFC 7519) are taken, and what they open.
type TokenOptions struct {
	// Secret is what tokens are signed with by HS256, of 32 bytes at least. Either
	// it or KeyFile is given.
	Secret Secret

	// KeyFile is the path of a JWKS (RFC 7517) with keys for HS256, RS256 (2048
	// bits at least), ES256 or EdDSA. It is read again when it has changed.
	KeyFile string

	// Policy is the text of the policy file, which says what the bearers of tokens
	// may see and do. See docs/security.md for its rules.
	Policy string

	// AllowUnending takes tokens without "exp" too.
	AllowUnending bool

	// MaxAge refuses tokens that are valid for longer than that from now on. Zero is
	// no limit.
	MaxAge time.Duration

	// TenantClaim is the claim that names the tenants, a text or a list of texts,
	// whose databases a token opens on a node of many. Default "tenant".
	TenantClaim string

	// AllowUnbound lets tokens without that claim open every tenant's.
	AllowUnbound bool

	// ErrorLog takes what is wrong with a key file that has changed; nil is the
	// standard logger of package log.
	ErrorLog *log.Logger
}

// Tokens takes JSON Web Tokens. It is safe for concurrent use.
type Tokens struct {
	keys     *jwt.Keys
	verifier *jwt.Verifier[*rules.Scope]
	tenant   string // claim
	unbound  bool   // tokens without it open every tenant
}

// admits reports whether a token opens the database of a tenant.
func (t *Tokens) admits(c *jwt.Claims, tenant string) bool {
	if _, named := c.Get(t.tenant); !named {
		return t.unbound
	}
	names, ok := c.Texts(t.tenant)
	return ok && slices.Contains(names, tenant)
}

// OpenTokens reads keys and policy. Errors say what is wrong with which.
func OpenTokens(o TokenOptions) (*Tokens, error) {
	keys, err := jwt.Open(jwt.Options{
		Secret: o.Secret, KeyFile: o.KeyFile, NoEnd: o.AllowUnending, MaxAge: o.MaxAge, ErrorLog: o.ErrorLog,
	})
	if err != nil {
		return nil, err
	}
	file, err := rules.Parse(o.Policy, ownCollections...)
	if err != nil {
		return nil, err
	}
	accept := func(c *jwt.Claims) (*rules.Scope, error) { return file.For(c) }
	claim := cmp.Or(o.TenantClaim, "tenant")
	return &Tokens{keys, jwt.NewVerifier(keys, accept), claim, o.AllowUnbound}, nil
}

// Mint returns a token with these claims, a JSON object, signed with the secret or
// the first one of the key file. Without "exp" it ends in an hour.
func (t *Tokens) Mint(claims string) (string, error) { return t.keys.Mint([]byte(claims)) }

// ownCollections are those that the server keeps for itself, and the tenant's settings.
var ownCollections = []string{"_idempotency", "_consumers", "_migrations", "_tenant"}
