package router

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

const jsonType = "application/json; charset=utf-8"

// refusal is an answer that the router gives by itself because it does not do
// what was asked. It is an error, so that a function may return either.
type refusal struct {
	status int
	text   string
	code   string // what programs tell it by, "" if there is none
	retry  int    // seconds after which trying again may help, 0 if there is no telling
}

func (f *refusal) Error() string { return f.text }

// body returns the refusal as JSON.
func (f *refusal) body() []byte {
	return encode(struct {
		Error string `json:"error"`
		Code  string `json:"code,omitempty"`
		Retry int    `json:"retry_after,omitempty"`
	}{f.text, f.code, f.retry})
}

// preflight answers a browser that asks whether a page may make a request. It goes the
// way of refusals, as nothing is done.
var preflight = &refusal{status: http.StatusNoContent}

// write answers an HTTP request with the refusal.
func (f *refusal) write(w http.ResponseWriter) {
	if f.status == http.StatusNoContent {
		w.WriteHeader(f.status)
		return
	}
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retry))
	}
	writeBody(w, f.status, f.body())
}

// writeJSON answers an HTTP request with a value.
func writeJSON(w http.ResponseWriter, status int, value any) { writeBody(w, status, encode(value)) }

func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// encode returns the JSON of a value that is known to have one.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic("router: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
