//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// administer sends a request with the admin token a.
func administer(t *testing.T, method, url, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer a")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// TestTerminated ends a node that has tenants with writes in their logs and a graph: all
// is folded, and the next open builds nothing anew.
func TestTerminated(t *testing.T) {
	unset(t)
	dir := t.TempDir()
	node := launch(t, "--dir", dir, "--admin-token", "a", "--sync", "off")
	base := "http://" + node.addr
	for _, name := range []string{"acme", "beta"} {
		status, body := administer(t, "PUT", base+"/_admin/tenants/"+name, "")
		require.Equal(t, 201, status, body)
		post(t, base+"/t/"+name+"/query", `{"query":"create collection notes (a int, v vector<4> @hnsw)"}`)
		for i := range 200 {
			body := fmt.Sprintf(`{"query":"put notes {a: %d, v: [%d, 1, %d, 3]}"}`, i, i, i%7)
			require.Equal(t, `{"affected":1}`, post(t, base+"/t/"+name+"/query", body))
		}
		near := post(t, base+"/t/"+name+"/query", `{"query":"get notes near v [7, 1, 0, 3] limit 1"}`)
		require.Contains(t, near, `"a":7`)
		post(t, base+"/t/"+name+"/query", `{"query":"compact"}`)
	}
	require.Eventually(t, func() bool {
		_, page := administer(t, "GET", base+"/_metrics", "")
		return strings.Contains(page, "\nfenec_vectors_unlinked 0\n")
	}, 20*time.Second, 10*time.Millisecond)
	for _, name := range []string{"acme", "beta"} {
		require.Equal(t, `{"affected":200}`, post(t, base+"/t/"+name+"/query", `{"query":"set notes {a: a + 1}"}`), "more for the log")
	}
	require.NoError(t, node.Process.Signal(syscall.SIGTERM))
	require.NoError(t, node.Wait(), "it ends by itself, and well")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		require.NotContains(t, f.Name(), "-log")
	}
	for _, name := range []string{"acme", "beta"} {
		db, err := fenec.Open(filepath.Join(dir, name+".fenec"), fenec.Options{MustExist: true})
		require.NoError(t, err)
		st, err := db.Stats()
		require.NoError(t, err)
		require.EqualValues(t, 200, st.Collections[0].Rows)
		require.Zero(t, st.UnlinkedVectors)
		require.Equal(t, st.Seq, st.FoldedSeq)
		require.NoError(t, db.Close())
	}
}
