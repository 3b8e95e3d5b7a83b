package serve_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// Requests use the memory of those before them, and none sees what another holds.
func TestRequestsKeepApart(t *testing.T) {
	c := start(t, serve.Options{}, "create collection notes (n int @unique, text text)")
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 25 {
				n := g*1000 + i
				// Some answers are longer than what is kept for the next.
				text := strings.Repeat(fmt.Sprint(n), 1+n%7*3000)
				want := fmt.Sprintf(`[{"n":%d,"text":%q}]`, n, text)
				put := c.do("POST", "/notes", fmt.Sprintf(`{"n":%d,"text":%q}`, n, text))
				require.Equal(t, `{"inserted":1}`, put.body)
				require.True(t, want == c.do("GET", fmt.Sprintf("/notes?select=n,text&n=%d", n), "").body)
				require.True(t, want == c.query("get notes select n, text where n = $1 limit 1", fmt.Sprint(n)).body)
				require.Equal(t, `{"count":0}`, c.do("GET", fmt.Sprintf("/notes?count&text=%d", n*10+1), "").body)
				require.Contains(t, c.query("get notes where n = $1").body, "error")
			}
		})
	}
	all.Wait()
}
