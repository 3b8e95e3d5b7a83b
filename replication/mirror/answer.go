package mirror

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// answer writes a JSON answer of its own.
func answer(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer has no JSON form"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked is gone if it fails
}

// problem is the body of an answer that tells of an error.
type problem struct {
	Error      string `json:"error"`
	RetryAfter int    `json:"retry_after,omitempty"` // seconds
}

func refuse(w http.ResponseWriter, status int, text string) {
	p := problem{Error: text}
	if status == http.StatusServiceUnavailable {
		p.RetryAfter = 1
		w.Header().Set("Retry-After", "1")
	}
	answer(w, status, p)
}

// only refuses requests of another method than the one a route has.
func only(method string, w http.ResponseWriter, r *http.Request) bool {
	if r.Method == method {
		return true
	}
	w.Header().Set("Allow", method)
	refuse(w, http.StatusMethodNotAllowed, r.Method+" is not for this path")
	return false
}
