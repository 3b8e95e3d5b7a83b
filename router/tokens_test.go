package router_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/router"
)

// R43: a token for acme opens nothing of globex, by whatever route.
func TestTokensOfOtherTenants(t *testing.T) {
	tokens, err := serve.OpenTokens(serve.TokenOptions{
		Secret: serve.NewSecret("0123456789abcdef0123456789abcdef"),
		Policy: "* read,write\n",
	})
	require.NoError(t, err)
	token, err := tokens.Mint(`{"sub":"u1","tenant":"acme"}`)
	require.NoError(t, err)
	faces(t, func(t *testing.T, f face) {
		server := realNode(t, serve.Options{Tokens: tokens}, nil)
		g := startRouter(t, f, router.Options{})
		g.enlist(server, "acme", "globex")
		for _, name := range []string{"acme", "globex"} {
			status, body := g.call("POST", "/t/"+name+"/batch",
				`{"query":"create collection notes (text text)"}`+"\n"+`{"query":"put notes {text: \"of `+name+`\"}"}`, good)
			require.Equal(t, 200, status, body)
		}
		auth := "Authorization: Bearer " + token
		_, body := g.call("GET", "/t/acme/notes", "", auth)
		require.Contains(t, body, "of acme")
		for _, c := range [][3]string{
			{"GET", "/notes", ""}, {"HEAD", "/notes", ""}, {"POST", "/notes", `{"text":"x"}`}, {"PATCH", "/notes/all", `{"text":"x"}`},
			{"DELETE", "/notes/all", ""}, {"GET", "/notes/changes", ""}, {"POST", "/query", `{"query":"get notes"}`},
			{"POST", "/batch", `{"query":"get notes"}`}, {"GET", "/collections", ""}, {"GET", "/", ""},
			{"GET", "/_whoami", ""}, {"GET", "/_schema", ""}, {"GET", "/_changes", ""}, {"GET", "/_stats/statements", ""},
		} {
			status, body := g.call(c[0], "/t/globex"+c[1], c[2], auth)
			require.Contains(t, []int{401, 403}, status, "%s: %s", c, body)
			require.NotContains(t, body, "of globex")
		}
		_, body = g.call("GET", "/t/globex/notes", "", good)
		require.Contains(t, body, "of globex", "nothing was changed")
	})
}
