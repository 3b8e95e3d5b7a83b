package serve_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

func TestOpenAPI(t *testing.T) {
	tokens := openTokens(t, "an uninteresting secret of forty bytes..", "tasks read")
	c := start(t, serve.Options{Token: serve.NewSecret("root"), Tokens: tokens}, append(tasks, "create collection hidden (x int)")...)
	paths := func(headers ...string) map[string]any {
		r := c.do("GET", "/_openapi.json", "", headers...)
		require.Equal(t, 200, r.status)
		var d struct {
			OpenAPI string
			Info    struct{ Version string }
			Paths   map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(r.body), &d))
		require.Equal(t, "3.1.0", d.OpenAPI)
		require.Equal(t, fenec.Version, d.Info.Version)
		return d.Paths
	}
	require.Equal(t, 401, c.do("GET", "/_openapi.json", "").status)
	require.Contains(t, paths("Authorization: Bearer root"), "/hidden")
	ada := paths("Authorization: Bearer " + mint(t, tokens, `"sub":"ada"`))
	require.Contains(t, ada, "/tasks")
	require.NotContains(t, ada, "/hidden")

	// It is of the schema as it is now.
	_, err := c.db.Query(t.Context(), "create collection later (x int)")
	require.NoError(t, err)
	require.Contains(t, paths("Authorization: Bearer root"), "/later")
	require.Equal(t, 200, c.do("HEAD", "/_openapi.json", "", "Authorization: Bearer root").status)
	require.Equal(t, 404, c.do("POST", "/_openapi.json", "{}", "Authorization: Bearer root").status)
}
