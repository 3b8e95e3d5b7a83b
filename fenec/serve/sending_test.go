package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// stuck is an answer whose client reads nothing until it goes on.
type stuck struct {
	*httptest.ResponseRecorder
	goOn <-chan struct{}
}

func (s stuck) Write(b []byte) (int, error) {
	<-s.goOn
	return s.ResponseRecorder.Write(b)
}

// used is a database in use, which tells what becomes of it.
type used struct {
	db              *fenec.DB
	ended           chan struct{}
	waits, released chan struct{}
	resumed         int
	spent           []serve.Spent
	rows, bytes     int64 // of events
}

func use(db *fenec.DB) *used {
	return &used{db: db, ended: make(chan struct{}), waits: make(chan struct{}, 100), released: make(chan struct{}, 1)}
}

func (u *used) source() serve.Source {
	return serve.Source{Tenant: "acme", Open: func(context.Context) (*serve.Use, *serve.Answer) {
		return &serve.Use{
			DB: u.db, Ended: u.ended, Why: "it goes", Release: func() { u.released <- struct{}{} },
			Waits: func() func(context.Context) error {
				u.waits <- struct{}{}
				return func(context.Context) error { u.resumed++; return nil }
			},
			Spent:    func(s serve.Spent) { u.spent = append(u.spent, s) },
			Followed: func(rows int, bytes int64) { u.rows += int64(rows); u.bytes += bytes },
		}, nil
	}}
}

// A client that does not read its long answer keeps nobody waiting for the place that its
// request holds, and the database for no longer than others let it.
func TestLongAnswersToWhoDoesNotRead(t *testing.T) {
	for _, coding := range []string{"", "gzip", "zstd"} {
		for _, ends := range []bool{false, true} {
			c := start(t, serve.Options{})
			wide(t, c, 3000)
			server := serve.New(serve.Options{})
			u, goOn, over := use(c.db), make(chan struct{}), make(chan any)
			w := stuck{httptest.NewRecorder(), goOn}
			go func() {
				defer func() { over <- recover() }()
				r := httptest.NewRequest("GET", "/wide", nil)
				r.Header.Set("Accept-Encoding", coding)
				server.Serve(w, r, []string{"wide"}, u.source())
			}()
			<-u.waits
			if ends {
				close(u.ended)
				<-u.released
				close(goOn)
				require.Equal(t, http.ErrAbortHandler, <-over, "the client sees that it is cut short")
				continue
			}
			close(goOn)
			require.Nil(t, <-over)
			require.Equal(t, 1+len(u.waits), u.resumed)
			require.Len(t, u.spent, 1)
			require.Equal(t, 3000, u.spent[0].Rows)
			require.Greater(t, u.spent[0].Out, int64(3000*1000))
			if coding == "" {
				require.EqualValues(t, w.Body.Len(), u.spent[0].Out)
				require.True(t, json.Valid(w.Body.Bytes()))
			}
		}
	}
}

// One that comes when the use of the database has to end already is refused.
func TestLongAnswersEnd(t *testing.T) {
	c := start(t, serve.Options{})
	wide(t, c, 3000)
	u := use(c.db)
	close(u.ended)
	w := httptest.NewRecorder()
	serve.New(serve.Options{}).Serve(w, httptest.NewRequest("GET", "/wide", nil), []string{"wide"}, u.source())
	require.Equal(t, 503, w.Code)
	require.Contains(t, w.Body.String(), "it goes")
	<-u.released
	w = httptest.NewRecorder()
	serve.New(serve.Options{}).Serve(w, httptest.NewRequest("GET", "/wide?limit=10", nil), []string{"wide"}, u.source())
	require.Equal(t, 200, w.Code, "an answer that is ready is given")
}

// The feed of changes and subscriptions cost what they answer.
func TestFeedsAreSpent(t *testing.T) {
	db := openFeed(t, 1<<20)
	startOn(t, serve.Options{}, db)
	_, err := db.Exec(t.Context(), "create collection n (a int)")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "put n [{a: 1}, {a: 2}]")
	require.NoError(t, err)
	server, u := serve.New(serve.Options{}), use(db)
	w := httptest.NewRecorder()
	server.Serve(w, httptest.NewRequest("GET", "/_changes?since=0", nil), []string{"_changes"}, u.source())
	require.Equal(t, 200, w.Code)
	require.Len(t, u.spent, 1)
	require.Positive(t, u.spent[0].Rows)
	require.EqualValues(t, w.Body.Len(), u.spent[0].Out)
	<-u.released

	ctx, cancel := context.WithCancel(t.Context())
	events := httptest.NewRecorder()
	over := make(chan struct{})
	go func() {
		defer close(over)
		r := httptest.NewRequest("GET", "/n/changes", nil).WithContext(ctx)
		server.Serve(watched{events, cancel}, r, []string{"n", "changes"}, u.source())
	}()
	<-over
	require.Len(t, u.spent, 2)
	require.EqualValues(t, 2, u.rows)
	require.EqualValues(t, events.Body.Len(), u.bytes)
}

// watched is an answer that is over once something of its body has come.
type watched struct {
	*httptest.ResponseRecorder
	enough func()
}

func (w watched) Flush() {
	w.ResponseRecorder.Flush()
	if w.Body.Len() > 0 {
		w.enough()
	}
}

// What never came to a tenant's database is not told among its statements.
func TestStatementsOfNobody(t *testing.T) {
	c := start(t, serve.Options{})
	server := serve.New(serve.Options{Token: serve.NewSecret("root")})
	u := use(c.db)
	ask := func(path, token string) string {
		r := httptest.NewRequest("GET", "/"+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		server.Serve(w, r, serve.Segments(r.URL), u.source())
		return w.Body.String()
	}
	ask("secrets", "wrong")
	require.JSONEq(t, `{"statements":[]}`, ask("_stats/statements", "root"))
	ask("nope", "root")
	require.Contains(t, ask("_stats/statements", "root"), "GET /nope")
}
