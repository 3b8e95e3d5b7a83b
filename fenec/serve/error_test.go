package serve_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// TestErrorsOfOurs holds what clients are told of an error of the server's own
// against what its log is told.
func TestErrorsOfOurs(t *testing.T) {
	for _, tc := range []struct {
		err    error
		status int
		told   string
		logged bool
	}{
		{fmt.Errorf("base /secret/x.fenec: %w: page 7", fenec.ErrCorrupt), 500, "the database is damaged", true},
		{fmt.Errorf("%w: write /secret/x.fenec-log: no space", fenec.ErrFailed), 500, "writes are refused", true},
		{errors.New("open /secret/x: too many open files"), 500, "something went wrong", true},
		{fmt.Errorf("%w: open /secret/model", fenec.ErrPlugin), 500, "plugin error", true},
		{fmt.Errorf("%w: 2 found", fenec.ErrUnmet), 412, "unmet", false},
		{fenec.Denied("not you"), 403, "denied: not you", false},
		{fmt.Errorf("read: %w", fenec.ErrClosed), 503, "closed", false},
		{fmt.Errorf("%w: x", fenec.ErrBlockTooLarge), 413, "too large", false},
	} {
		var logged bytes.Buffer
		s := serve.New(serve.Options{ErrorLog: log.New(&logged, "", 0)})
		w := httptest.NewRecorder()
		s.Send(w, httptest.NewRequest(http.MethodPost, "/query", nil), serve.Error(tc.err))
		require.Equal(t, tc.status, w.Code)
		require.Contains(t, w.Body.String(), tc.told)
		if tc.logged {
			require.NotContains(t, w.Body.String(), "/secret")
			require.Contains(t, logged.String(), tc.err.Error())
		} else {
			require.Empty(t, logged.String())
		}
		if tc.status == http.StatusServiceUnavailable {
			require.Equal(t, "1", w.Header().Get("Retry-After"))
			require.Contains(t, w.Body.String(), `"retry_after":1`)
		}
	}
}
