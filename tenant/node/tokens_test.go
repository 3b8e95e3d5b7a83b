package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant/node"
)

func openTokens(t *testing.T, claim string, unbound bool) *serve.Tokens {
	t.Helper()
	tokens, err := serve.OpenTokens(serve.TokenOptions{
		Secret: serve.NewSecret("0123456789abcdef0123456789abcdef"), Policy: "* read,write where owner = $jwt.sub\n", TenantClaim: claim, AllowUnbound: unbound,
	})
	require.NoError(t, err)
	return tokens
}

func mint(t *testing.T, tokens *serve.Tokens, claims string) string {
	t.Helper()
	token, err := tokens.Mint(fmt.Sprintf(`{"sub":"ada"%s}`, claims))
	require.NoError(t, err)
	return token
}

// A JSON Web Token opens the databases of the tenants it names.
func TestTokensNameTheirTenants(t *testing.T) {
	tokens := openTokens(t, "", false)
	c := start(t, node.Options{Surface: serve.Options{Token: serve.NewSecret("d"), Tokens: tokens}, AdminToken: serve.NewSecret("a")})
	for _, name := range []string{"acme", "globex"} {
		c.want(201, "", "PUT", "/_admin/tenants/"+name, "a", "")
		c.want(200, "", "POST", "/t/"+name+"/query", "d", `{"query":"create collection notes (owner text, n int)"}`)
	}
	one := mint(t, tokens, `,"tenant":"acme"`)
	c.want(201, "", "POST", "/t/acme/notes", one, `{"n":1}`)
	c.want(403, "", "POST", "/t/acme/notes", one, `{"n":1,"owner":"bob"}`)
	c.want(200, `{"node":"dir","tenant":"acme","read_only":false,"kind":"scoped","sub":"ada","tenants":["acme"],"unbound":false,"append_only":[],`+
		`"rules":[{"collection":"*","grants":["read","insert","update","delete"],"fields":null,"rows":"owner = $jwt.sub"}]}`, "GET", "/t/acme/_whoami", one, "")
	for _, path := range []string{"", "/notes", "/notes/changes", "/collections", "/_whoami", "/_schema", "/_changes", "/nope", "/_stats/statements"} {
		c.want(403, "", "GET", "/t/globex"+path, one, "")
	}
	for _, path := range []string{"/query", "/batch", "/notes", "/notes/near", "/_schema/apply"} {
		c.want(403, "", "POST", "/t/globex"+path, one, `{"query":"put notes {n: 1}"}`)
	}
	c.want(403, "", "GET", "/t/nobody/notes", one, "")
	c.want(401, "", "GET", "/t/acme/_stats/statements", one, "")
	c.want(200, "", "GET", "/t/globex/_stats/statements", "d", "")
	c.want(200, `[]`, "GET", "/t/globex/notes", "d", "")
	both := mint(t, tokens, `,"tenant":["acme","globex"]`)
	c.want(200, "", "GET", "/t/acme/notes", both, "")
	c.want(200, "", "GET", "/t/globex/notes", both, "")
	for _, claims := range []string{``, `,"tenant":7`, `,"tenant":[7]`} {
		c.want(403, "", "GET", "/t/acme/notes", mint(t, tokens, claims), "")
	}
}

func TestUnboundTokens(t *testing.T) {
	tokens := openTokens(t, "org", true)
	c := start(t, node.Options{Surface: serve.Options{Token: serve.NewSecret("d"), Tokens: tokens}, AdminToken: serve.NewSecret("a")})
	c.want(201, "", "PUT", "/_admin/tenants/globex", "a", "")
	c.want(200, "", "POST", "/t/globex/query", "d", `{"query":"create collection notes (owner text)"}`)
	c.want(200, "", "GET", "/t/globex/notes", mint(t, tokens, ``), "")
	c.want(403, "", "GET", "/t/globex/notes", mint(t, tokens, `,"org":"acme"`), "")
}

func TestAdministrationIsAudited(t *testing.T) {
	var log bytes.Buffer
	c := start(t, node.Options{Surface: serve.Options{AuditLog: &log}, AdminToken: serve.NewSecret("a")})
	c.want(401, "", "PUT", "/_admin/tenants/acme", "wrong", "")
	c.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	c.want(200, "", "GET", "/_admin/tenants", "a", "")
	var events []string
	for line := range strings.Lines(log.String()) {
		var e struct {
			Event, Path string
			HTTPStatus  int `json:"http_status"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		events = append(events, fmt.Sprint(e.Event, " ", e.Path, " ", e.HTTPStatus))
	}
	require.Equal(t, []string{"refused /_admin/tenants/acme 0", "admin /_admin/tenants/acme 201"}, events)
}
