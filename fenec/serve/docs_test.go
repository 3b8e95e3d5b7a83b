package serve_test

import (
	"bytes"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/exchange"
)

// page returns a page of the documentation.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	require.NoError(t, err)
	return string(text)
}

// journal is logs that a server writes and a test reads.
type journal struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Split(j.text.String(), "\n")
}

var logBlock = regexp.MustCompile("(?ms)^```log\n(.*?)^```")

// requireLogged requires the lines of a page's log blocks to be in the logs.
func requireLogged(t *testing.T, text string, logged []string) {
	t.Helper()
	for _, block := range logBlock.FindAllStringSubmatch(text, -1) {
		for want := range strings.Lines(block[1]) {
			found := false
			for _, line := range logged {
				found = found || exchange.Matches(strings.TrimSpace(want), line)
			}
			require.True(t, found, "no line of the log is %s", want)
		}
	}
}

// servedFile serves a database of a file as the pages have it served.
func servedFile(t *testing.T, opts serve.Options) *client {
	t.Helper()
	db, err := fenec.Open(filepath.Join(t.TempDir(), "books.fenec"), fenec.Options{Sync: fenec.SyncAlways, FeedBytes: 1 << 20})
	require.NoError(t, err)
	return startOn(t, opts, db)
}

// TestHTTPPage runs the commands of the page on the surface.
func TestHTTPPage(t *testing.T) {
	tracer, err := serve.OpenTracer(serve.TracerOptions{Endpoint: "http://127.0.0.1:1"})
	require.NoError(t, err)
	defer func() { require.NoError(t, tracer.Close()) }()
	var logs journal
	c := servedFile(t, serve.Options{
		SlowLog: &logs, AuditLog: &logs, Tracer: tracer, Connections: func() int { return 1 },
	})
	text := page(t, "http.md")
	sh := shell{t: t, base: c.url}
	require.GreaterOrEqual(t, sh.runAll(text), 60)
	requireLogged(t, text, logs.lines())

	figures := c.do("GET", "/_metrics", "").body
	named := map[string]bool{}
	for _, name := range regexp.MustCompile("`(fenec_[a-z_]+)`").FindAllStringSubmatch(text, -1) {
		require.Contains(t, figures, "# HELP "+name[1]+" ")
		named[name[1]] = true
	}
	for _, name := range regexp.MustCompile(`(?m)^# HELP (\S+)`).FindAllStringSubmatch(figures, -1) {
		require.True(t, named[name[1]], "the page does not name %s", name[1])
	}
}

var policyBlock = regexp.MustCompile("(?ms)^```policy\n(.*?)^```")

// TestSecurityPage runs the commands of the page on tokens, under the first policy
// that it shows. The others are read.
func TestSecurityPage(t *testing.T) {
	text := page(t, "security.md")
	policies := policyBlock.FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, policies)
	var tokens *serve.Tokens
	for i := range policies {
		read, err := serve.OpenTokens(serve.TokenOptions{Secret: serve.NewSecret("0123456789abcdef0123456789abcdef"), Policy: policies[i][1]})
		require.NoError(t, err)
		if i == 0 {
			tokens = read
		}
	}
	var logs journal
	c := servedFile(t, serve.Options{
		Token: serve.NewSecret("data"), MetricsToken: serve.NewSecret("figures"), Tokens: tokens, SlowLog: &logs, AuditLog: &logs,
	})
	sh := shell{t: t, base: c.url, vars: map[string]string{"ROOT": "data", "FIGURES": "figures"}, mint: tokens.Mint}
	require.GreaterOrEqual(t, sh.runAll(text), 30)
	requireLogged(t, text, logs.lines())
	for _, line := range logs.lines() {
		require.NotContains(t, line, "Bearer")
		require.NotContains(t, line, "call Bob", "a body is in no log")
	}
}

var flagName = regexp.MustCompile(`--[a-z][a-z-]*`)

// TestFlagsOnPages requires the pages to name the server's flags, and no others
// but curl's.
func TestFlagsOnPages(t *testing.T) {
	usage, err := os.ReadFile("../../cmd/fenec-server/usage.go")
	require.NoError(t, err)
	named := flagName.FindAllString(page(t, "http.md")+page(t, "security.md"), -1)
	known := append(flagName.FindAllString(string(usage), -1), "--no-mmap", "--data-binary", "--data-urlencode")
	for _, name := range named {
		require.Contains(t, known, name)
	}
	for _, name := range known {
		require.Contains(t, named, name)
	}
}

// Example shows how a program serves a database of its own.
func Example() {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	s := serve.New(serve.Options{Token: serve.NewSecret("secret"), StatementTimeout: time.Second})
	http.Handle("/", s.Handler(db))
}

// TestCodeOnPages requires the Go code of the page to be that of this file.
func TestCodeOnPages(t *testing.T) {
	source, err := os.ReadFile("docs_test.go")
	require.NoError(t, err)
	_, code, ok := strings.Cut(page(t, "http.md"), "\n## Embedding\n")
	require.True(t, ok)
	lines := regexp.MustCompile(`(?m)^    (.*)$`).FindAllStringSubmatch(code, -1)
	require.NotEmpty(t, lines)
	for _, line := range lines {
		require.Contains(t, string(source), "\n\t"+line[1]+"\n")
	}
}
