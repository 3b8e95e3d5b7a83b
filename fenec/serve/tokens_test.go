package serve_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/exchange"
)

const secret = "0123456789abcdef0123456789abcdef01234567"

func openTokens(t *testing.T, secret, policy string) *serve.Tokens {
	t.Helper()
	tokens, err := serve.OpenTokens(serve.TokenOptions{Secret: serve.NewSecret(secret), Policy: policy})
	require.NoError(t, err)
	return tokens
}

func mint(t *testing.T, tokens *serve.Tokens, format string, args ...any) string {
	t.Helper()
	text, err := tokens.Mint("{" + fmt.Sprintf(format, args...) + "}")
	require.NoError(t, err)
	return text
}

// names returns the tokens that the script I names.
func names(t *testing.T, tokens *serve.Tokens) (pairs []string) {
	add := func(name, token string) { pairs = append(pairs, name, token) }
	for name, claims := range exchange.Claims {
		add(name, mint(t, tokens, "%s", claims))
	}
	rooms := `"r0"` + strings.Repeat(`,"r"`, 1000)
	add("$MANY", mint(t, tokens, `"sub":"ada","rooms":[%s]`, rooms))
	add("$EXPIRED", mint(t, tokens, `"sub":"ada","exp":%d`, time.Now().Add(-time.Second).Unix()))
	add("$EARLY", mint(t, tokens, `"sub":"ada","nbf":%d`, time.Now().Add(time.Hour).Unix()))
	add("$OTHER", mint(t, openTokens(t, strings.Repeat("x", 40), ""), `"sub":"ada"`))
	ada, mod := strings.Split(mint(t, tokens, `"sub":"ada"`), "."), strings.Split(mint(t, tokens, `"sub":"m"`), ".")
	add("$CHANGED", ada[0]+"."+mod[1]+"."+ada[2])
	// {"alg":"none"}, {"alg":"HS256","kid":"k"} and {"sub":"ada"}, in base64url.
	add("$ALGNONE", "eyJhbGciOiJub25lIn0."+ada[1]+".")
	add("$KID", "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsifQ."+ada[1]+"."+ada[2])
	add("$NOEXP", ada[0]+".eyJzdWIiOiJhZGEifQ."+ada[2])
	return pairs
}

func TestTokensOpenWhatTheyShould(t *testing.T) {
	tokens := openTokens(t, secret, exchange.Policy)
	exchange.Run(t, exchange.Script(t, "I"), func(t *testing.T, fixture string) string {
		opts := serve.Options{Token: serve.NewSecret("root"), Tokens: tokens}
		return start(t, opts, exchange.Fixtures[fixture]...).url
	}, names(t, tokens)...)
}

// A page of another site has no business with a server that everybody may use.
func TestOpenServersRefuseOtherSites(t *testing.T) {
	body := `{"query":"create collection x (a int)"}`
	c := start(t, serve.Options{})
	require.Equal(t, 403, c.do("POST", "/query", body, "Sec-Fetch-Site: cross-site").status)
	require.Equal(t, 403, c.do("GET", "/x/changes", "", "Sec-Fetch-Site: same-site").status)
	require.Equal(t, 200, c.do("POST", "/query", body, "Sec-Fetch-Site: same-origin").status)
	let := start(t, serve.Options{AllowOrigin: "*"})
	require.Equal(t, 200, let.do("POST", "/query", body, "Sec-Fetch-Site: cross-site").status)
	asks := start(t, serve.Options{Token: serve.NewSecret("t")})
	require.Equal(t, 200, asks.do("POST", "/query", body, "Sec-Fetch-Site: cross-site", "Authorization: Bearer t").status)
}
