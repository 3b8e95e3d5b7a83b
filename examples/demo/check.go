package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// check returns an error that says how an answer differs from the expected one.
type check func(status int, body []byte) error

// rows wants a 200 with these rows in this order.
func rows(want []row) check { return answers(want) }

// count wants a 200 with a count.
func count(n int) check { return answers([]row{{"count": n}}) }

// affected wants a 200 with the number of documents written.
func affected(n int) check { return answers(row{"affected": n}) }

// answers wants a 200 whose body is want as JSON.
func answers(want any) check {
	return func(status int, body []byte) error {
		if status != http.StatusOK {
			return fmt.Errorf("answered %d, want 200", status)
		}
		text, err := json.Marshal(want)
		if err != nil {
			return err
		}
		var w, g any
		if err := cmp.Or(json.Unmarshal(text, &w), json.Unmarshal(body, &g)); err != nil {
			return err
		}
		if !reflect.DeepEqual(w, g) {
			return fmt.Errorf("want %s", text)
		}
		return nil
	}
}

// refused wants the status and a body that contains each of the words.
func refused(want int, words ...string) check {
	return func(status int, body []byte) error {
		if status != want {
			return fmt.Errorf("answered %d, want %d", status, want)
		}
		return containsAll(body, words)
	}
}

// explained wants a plan that contains each of the words.
func explained(words ...string) check {
	return func(status int, body []byte) error {
		var steps []struct{ Plan string }
		if err := json.Unmarshal(body, &steps); err != nil || status != http.StatusOK || len(steps) == 0 {
			return fmt.Errorf("answered %d, want 200 and a plan", status)
		}
		return containsAll(body, words)
	}
}

// placed wants every tenant on a node, active, with a size.
func placed(tenants []tenant) check {
	return func(status int, body []byte) error {
		var got []struct {
			Name, Node, State string
			Bytes             int64
		}
		if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
			return fmt.Errorf("answered %d, want 200 and a list", status)
		}
		if len(got) != len(tenants) {
			return fmt.Errorf("%d tenants, want %d", len(got), len(tenants))
		}
		for i, g := range got {
			if g.Name != tenants[i].name || g.Node == "" || g.State != "active" || g.Bytes <= 0 {
				return fmt.Errorf("tenant %d is %+v, want %s, placed, active and not empty", i, g, tenants[i].name)
			}
		}
		return nil
	}
}

func containsAll(body []byte, words []string) error {
	for _, w := range words {
		if !bytes.Contains(body, []byte(w)) {
			return fmt.Errorf("does not contain %q", w)
		}
	}
	return nil
}

// page sorts found, ties in the order they have, and returns the first n as rows.
func page[T any](found []T, order func(a, b T) int, n int, brief func(T) row) []row {
	slices.SortStableFunc(found, order)
	var out []row
	for _, f := range found[:min(n, len(found))] {
		out = append(out, brief(f))
	}
	return out
}

// oneLine shows an answer in an error message.
func oneLine(body []byte) string { return strings.TrimSpace(string(body)) }
