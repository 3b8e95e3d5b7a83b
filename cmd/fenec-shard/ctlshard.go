package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/fenec-go/fenecdb/internal/secret"
	"github.com/fenec-go/fenecdb/router"
)

// shard asks a router, most of all under /_shard/.
type shard struct {
	base   *url.URL
	key    key // of the router
	client *http.Client
}

// key is a token, and how it is given.
type key struct {
	token router.Token
	by    string
}

func newShard(base *url.URL, token router.Token) *shard {
	return &shard{base: base, key: key{token, "--token or FENEC_SHARD_TOKEN"}, client: &http.Client{
		// No proxy from the environment and no redirect: the token goes to
		// the router or nowhere.
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// refusedError is an answer that is no success.
type refusedError struct {
	status     int
	text, code string
	body       []byte
	keyBy      string // how the token is given that was sent
}

func (e *refusedError) Error() string {
	text := e.text
	if text == "" {
		text = http.StatusText(e.status)
	}
	if e.status == http.StatusUnauthorized {
		text += " (" + e.keyBy + ")"
	}
	if e.code != "" {
		text += " (" + e.code + ")"
	}
	return fmt.Sprintf("the router answered %d: %s", e.status, text)
}

// ask sends one request for what path names below /_shard/, and returns the body of
// the answer. A nil body is none. There is no time limit but ctx's: a move takes as
// long as it takes.
func (s *shard) ask(ctx context.Context, method, path string, body any) ([]byte, error) {
	return s.send(ctx, s.key, method, "_shard/"+path, body)
}

// send is ask for any path, and with any key.
func (s *shard) send(ctx context.Context, k key, method, path string, body any) ([]byte, error) {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.base.String(), "/")+"/"+path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	if !k.token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+secret.Reveal(k.token))
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, s.silent(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, s.silent(err)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, refusedBy(resp.StatusCode, answer, k)
	}
	return answer, nil
}

// askSeveral is ask for something that is done to several tenants, and decodes the answer.
// What was done to some and has failed for others is no error.
func (s *shard) askSeveral(ctx context.Context, path string, body, into any) ([]byte, error) {
	answer, err := s.ask(ctx, http.MethodPost, path, body)
	var refused *refusedError
	if errors.As(err, &refused) && refused.tellsFailures() {
		answer, err = refused.body, nil
	}
	if err != nil {
		return nil, err
	}
	return answer, decode(answer, into)
}

// tellsFailures reports whether the answer says of which tenants something has failed.
func (e *refusedError) tellsFailures() bool {
	var said struct{ Failed json.RawMessage }
	return e.status == http.StatusBadGateway && json.Unmarshal(e.body, &said) == nil && said.Failed != nil
}

// silent says that the router did not answer. The request itself is no news to
// whoever made it.
func (s *shard) silent(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return fmt.Errorf("the router at %s did not answer: %w", s.base.Redacted(), err)
}

func refusedBy(status int, body []byte, k key) error {
	var said struct{ Error, Code string }
	// What is not the router's own form of an error, a proxy's page say, has no
	// text worth a line.
	_ = json.Unmarshal(body, &said)
	return &refusedError{status, said.Error, said.Code, body, k.by}
}

// get asks a question and decodes the answer.
func (s *shard) get(ctx context.Context, path string, into any) ([]byte, error) {
	body, err := s.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return body, decode(body, into)
}

func decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the router's answer: %w", err)
	}
	return nil
}
