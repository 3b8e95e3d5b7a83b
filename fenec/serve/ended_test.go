package serve_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// turnsOut is a source whose database is another one with each opening.
func turnsOut(uses ...*used) serve.Source {
	return serve.Source{Open: func(ctx context.Context) (*serve.Use, *serve.Answer) {
		if len(uses) == 0 {
			a := serve.Fail(404, "there is no database any more")
			return nil, &a
		}
		next := uses[0]
		uses = uses[1:]
		return next.source().Open(ctx)
	}}
}

// A request that waits for a write lets go of its database when that has to end, and waits
// for what takes its place.
func TestAfterGoesOnWithTheNextDatabase(t *testing.T) {
	for _, tc := range []struct {
		name    string
		uses    []*used // past the first
		status  int
		body    string
		resumed int
	}{
		{"another", []*used{use(start(t, serve.Options{}, books...).db)}, 200, `{"count":3}`, 1},
		{"another that is not there either", []*used{use(start(t, serve.Options{}, tasks...).db)}, 504, `"seq":3`, 1},
		{"none", nil, 404, "any more", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first := use(start(t, serve.Options{}).db)
			source := turnsOut(append([]*used{first}, tc.uses...)...)
			w, over := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(over)
				r := httptest.NewRequest("GET", "/books?count", nil)
				r.Header.Set("Fenec-After", "8")
				r.Header.Set("Fenec-Wait", "200")
				serve.New(serve.Options{}).Serve(w, r, []string{"books"}, source)
			}()
			<-first.waits
			close(first.ended)
			<-over
			require.Equal(t, tc.status, w.Code, w.Body)
			require.Contains(t, w.Body.String(), tc.body)
			require.Len(t, first.released, 1)
			require.Zero(t, first.resumed)
			for _, u := range tc.uses {
				require.Len(t, u.released, 1)
				require.Equal(t, tc.resumed, u.resumed)
			}
		})
	}
}

// A wait for changes ends with the use of the database, and so in time for its follower to
// come again.
func TestFeedWaitsNoLongerThanItsDatabase(t *testing.T) {
	u := use(startOn(t, serve.Options{}, openFeed(t, 1<<20), tasks...).db)
	w, over := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(over)
		serve.New(serve.Options{}).Serve(w, httptest.NewRequest("GET", "/_changes?since=3&wait=30000", nil), []string{"_changes"}, u.source())
	}()
	<-u.waits
	close(u.ended)
	<-over
	require.Equal(t, 200, w.Code)
	require.Empty(t, w.Body)
	require.Equal(t, "3", w.Header().Get("Fenec-Next"))
}

func TestFiguresOfASource(t *testing.T) {
	source := use(start(t, serve.Options{}).db).source()
	source.Figures = func() []serve.Figure { return []serve.Figure{{Name: "fenec_more", Help: "More.", Value: 7}} }
	w := httptest.NewRecorder()
	serve.New(serve.Options{}).Serve(w, httptest.NewRequest("GET", "/_metrics", nil), []string{"_metrics"}, source)
	require.Contains(t, w.Body.String(), "\nfenec_more 7\n")
	require.Contains(t, w.Body.String(), "\nfenec_change_sequence 0\n")
}

// A replica is refused writes as who may not write is, by a handler of its own too.
func TestReplicaTakesNoWrites(t *testing.T) {
	db, err := fenec.Open(t.TempDir()+"/a.fenec", fenec.Options{})
	require.NoError(t, err)
	c := startOn(t, serve.Options{}, db, books...)
	require.NoError(t, db.Follow(t.Context()))
	r := c.do("POST", "/books", `{"title":"x"}`)
	require.Equal(t, 403, r.status)
	require.Contains(t, r.body, "replica")
	require.Equal(t, 200, c.do("GET", "/books?count", "").status)
}

func TestAdministers(t *testing.T) {
	var audit strings.Builder
	s := serve.New(serve.Options{AuditLog: &audit})
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/_turn", nil)
	require.True(t, s.Begin(w, r))
	s.Administers(w, r, serve.Fail(409, "no").Write)
	require.Equal(t, 409, w.Code)
	require.Contains(t, audit.String(), `"path":"/_turn","http_status":409`)
}
