package node_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// slowReader is an answer whose client reads nothing until it goes on.
type slowReader struct {
	*httptest.ResponseRecorder
	began chan<- struct{}
	goOn  <-chan struct{}
}

func (w slowReader) Write(b []byte) (int, error) {
	select {
	case w.began <- struct{}{}:
	default:
	}
	<-w.goOn
	return w.ResponseRecorder.Write(b)
}

// Clients that do not read answers of many megabytes keep no place from others, and their
// tenant from nothing: their answers are cut short when it is deleted.
func TestSlowReaders(t *testing.T) {
	n, _ := manage(t, tenant.Options{MaxInFlight: 2, MaxInFlightTenant: 2, Wait: 10 * time.Second, DeleteWait: 10 * time.Second})
	for range 3 {
		require.Equal(t, 201, send(n, "POST", "/t/acme/notes", `{"who":"`+strings.Repeat("x", 1<<20)+`"}`).Code)
	}
	began, goOn := make(chan struct{}, 2), make(chan struct{})
	over := make(chan any, 2)
	for range 2 {
		go func() {
			defer func() { over <- recover() }()
			w := slowReader{httptest.NewRecorder(), began, goOn}
			n.ServeHTTP(w, httptest.NewRequest("GET", "/t/acme/notes", nil))
		}()
	}
	<-began
	<-began
	for _, name := range []string{"acme", "beta"} {
		require.Equal(t, 200, send(n, "GET", "/t/"+name+"/notes?limit=1", "").Code)
	}
	require.NoError(t, n.Tenants().Delete(context.Background(), "acme"), "while they still do not read")
	close(goOn)
	for range 2 {
		require.Equal(t, http.ErrAbortHandler, <-over)
	}
}
