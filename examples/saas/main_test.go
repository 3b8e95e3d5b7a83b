package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// printed is the form of the lines that the service prints.
var printed = regexp.MustCompile(`^curl '?([^' ]+)'? -H 'Host: (\S+)'(?: -d '(.+)')?$`)

// send does what curl would, and returns the status and the body.
func send(t *testing.T, url, host, data string) (int, string) {
	t.Helper()
	method := "GET"
	if data != "" {
		method = "POST"
	}
	req, err := http.NewRequest(method, url, strings.NewReader(data))
	require.NoError(t, err)
	req.Host = host
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	return res.StatusCode, string(body)
}

// start runs the service, and stops it when the test is over. It returns the lines that
// it prints.
func start(t *testing.T, dir string) []string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, writeTo(out), "127.0.0.1:0", dir) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return strings.Split(strings.TrimSpace(<-out), "\n")
}

type writeTo chan<- string

func (c writeTo) Write(b []byte) (int, error) {
	c <- string(b)
	return len(b), nil
}

// The printed lines do what they promise, in their order.
func TestPrintedLines(t *testing.T) {
	want := []struct {
		status int
		body   string
	}{
		{201, "welcome to acme.localhost\n"},
		{200, `{"affected":1}` + "\n"},
		{200, `{"affected":1}` + "\n"},
		{200, `^\[{"id":2,"text":"feed the cat","at":.*},{"id":1,"text":"water the plants","at":.*}\]\n$`},
		{200, `^\[{"id":1,"text":"water the plants","at":.*,"_score":.*}\]\n$`},
		{404, `"code":"unknown-tenant"`},
	}
	lines := start(t, t.TempDir())
	require.Len(t, lines, len(want))
	for i, line := range lines {
		part := printed.FindStringSubmatch(line)
		require.NotNil(t, part, line)
		status, body := send(t, part[1], part[2], part[3])
		require.Equal(t, want[i].status, status, "%s: %s", line, body)
		require.Regexp(t, want[i].body, body, line)
	}
}

func TestCustomersAreApart(t *testing.T) {
	dir := t.TempDir()
	t.Run("service", func(t *testing.T) {
		url := strings.TrimSuffix(printed.FindStringSubmatch(start(t, dir)[0])[1], "/signup")
		for _, name := range []string{"acme", "beta"} {
			status, _ := send(t, url+"/signup", "localhost", "name="+name)
			require.Equal(t, 201, status)
			status, _ = send(t, url+"/notes", name+".localhost", "text=from+"+name)
			require.Equal(t, 200, status)
			_, body := send(t, url+"/notes", name+".localhost", "")
			require.Contains(t, body, "from "+name)
			require.Equal(t, 1, strings.Count(body, "from "))
		}
		for _, c := range []struct {
			path, host, data string
			status           int
		}{
			{"/signup", "localhost", "name=acme", 409},
			{"/signup", "localhost", "name=../acme", 400},
			{"/signup", "acme.localhost", "name=gamma", 404},
			{"/notes", "localhost", "", 421},
			{"/notes", "acme.example.com", "", 421},
			{"/search", "acme.localhost", "", 200},
		} {
			status, body := send(t, url+c.path, c.host, c.data)
			require.Equal(t, c.status, status, "%s%s: %s", c.host, c.path, body)
		}
	})
	customers, err := tenant.Open(dir, tenant.Options{})
	require.NoError(t, err)
	names, err := customers.List()
	require.NoError(t, errors.Join(err, customers.Close()))
	require.Equal(t, []string{"acme", "beta"}, names)
}

// A customer that is being moved is told to try again, and not that something is broken.
func TestAFrozenCustomer(t *testing.T) {
	customers, err := node.Open(t.TempDir(), node.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, customers.Close()) }()
	h := service(customers)
	post := func(host, path, form string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "http://"+host+path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	require.Equal(t, 201, post("localhost", "/signup", "name=acme").Code)
	_, err = customers.Tenants().Freeze(t.Context(), "acme", 0)
	require.NoError(t, err)
	w := post("acme.localhost", "/notes", "text=x")
	require.Equal(t, 503, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Contains(t, w.Body.String(), `"code":"tenant-frozen"`)
}
