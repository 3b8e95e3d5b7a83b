package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// maxBody is the most bytes of a request's body.
const maxBody = 64 << 20

// Request is a request that has been taken in whole.
type Request struct {
	Method string
	Path   []string // the pieces of the path within the database's surface
	Body   []byte
}

// ReadRequest takes the request in for the path that segments make up, or
// answers it and returns false.
func ReadRequest(w http.ResponseWriter, r *http.Request, segments []string) (Request, bool) {
	req := Request{Method: r.Method, Path: segments}
	if r.ContentLength == 0 {
		return req, true
	}
	body, refusal := readBody(w, r)
	if refusal != nil {
		// What is left of the body is not worth reading.
		w.Header().Set("Connection", "close")
		refusal.Write(w, r)
		return req, false
	}
	req.Body = body
	return req, true
}

// growAhead is the most memory a body gets before its bytes have arrived.
const growAhead = 256 << 10

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Answer) {
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	var buf bytes.Buffer
	buf.Grow(int(min(max(r.ContentLength, 0), growAhead)) + bytes.MinRead)
	body := patient{http.MaxBytesReader(w, r.Body, maxBody), http.NewResponseController(w)}
	_, err := buf.ReadFrom(body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		a := Fail(http.StatusRequestTimeout, "the rest of the body did not come")
		return nil, &a
	case err != nil:
		a := Fail(http.StatusBadRequest, "the body could not be read: "+err.Error())
		return nil, &a
	}
	return buf.Bytes(), nil
}

// patience is how long a client may be silent within a request, and how long it
// may take to accept a part of an answer.
const patience = time.Minute

// patient reads a body whose sender may take its time, but not stop.
type patient struct {
	io.Reader
	control *http.ResponseController
}

func (p patient) Read(b []byte) (int, error) {
	// Where there are no deadlines, the server's own must do.
	_ = p.control.SetReadDeadline(time.Now().Add(patience))
	return p.Reader.Read(b)
}

func tooLarge() *Answer {
	a := Fail(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", maxBody))
	return &a
}

// parseStatement reads the JSON form of a statement: an object with the text
// as "query" (or "sql") and the parameters as "params", a list or one value.
func parseStatement(body []byte) (fenec.Statement, error) {
	var st fenec.Statement
	v, err := value.ParseJSON(body)
	if err != nil {
		return st, err
	}
	if v.Kind() != value.KindObject {
		return st, errors.New(`want an object with a member "query"`)
	}
	text, ok := v.Get("query")
	if !ok {
		text, ok = v.Get("sql")
	}
	if !ok || text.Kind() != value.KindText {
		return st, errors.New(`want a member "query" that is a text`)
	}
	st.Text = text.AsText()
	switch params, _ := v.Get("params"); params.Kind() {
	case value.KindNull:
	case value.KindList:
		for _, p := range params.AsList() {
			st.Args = append(st.Args, p)
		}
	default:
		st.Args = []any{params}
	}
	return st, nil
}

// parseBatch reads one statement a line; blank lines count as lines only.
func parseBatch(body []byte) ([]fenec.Statement, error) {
	var out []fenec.Statement
	n := 0
	for line := range bytes.Lines(body) {
		n++
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		st, err := parseStatement(line)
		if err != nil {
			return nil, fmt.Errorf("batch line %d: %w", n, err)
		}
		out = append(out, st)
	}
	if len(out) == 0 {
		return nil, errors.New("the batch holds no statement")
	}
	return out, nil
}
