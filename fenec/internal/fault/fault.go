// Package fault holds the error type every layer of the engine reports to its
// callers: a kind, which decides how the error travels (an HTTP status, a
// sentinel of package fenec), and a message for people.
package fault

import (
	"errors"
	"fmt"
)

// Kind is the category of an error, as a caller tells errors apart.
type Kind uint8

// The kinds, in the order of the language reference.
const (
	Query     Kind = iota + 1 // a statement that cannot be understood or carried out
	Type                      // a value that does not fit where it was put
	NotFound                  // no such collection or field
	Exists                    // a collection, field or index of that name is there already
	Duplicate                 // an id or a unique value is taken
	Unmet                     // a requirement of the statement was not met
	ReadOnly                  // a write where none is allowed
	Denied                    // the caller may not do this
	OverLimit                 // a limit set on the database refuses the write
	Plugin                    // a function of the embedder failed
)

var prefixes = [...]string{
	Query:     "query error",
	Type:      "type error",
	NotFound:  "not found",
	Exists:    "already exists",
	Duplicate: "duplicate",
	Unmet:     "unmet",
	ReadOnly:  "read only",
	Denied:    "denied",
	OverLimit: "over limit",
	Plugin:    "plugin error",
}

// String returns the words an error's text starts with.
func (k Kind) String() string {
	if int(k) < len(prefixes) && prefixes[k] != "" {
		return prefixes[k]
	}
	return "error"
}

// Error is an error with a kind. Its text starts with the kind's words.
type Error struct {
	Kind Kind
	Msg  string // what was wrong and where, without the kind
	Err  error  // the cause, or nil
}

func (e *Error) Error() string { return e.Kind.String() + ": " + e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an error of the same kind without a message of
// its own, which is what the kinds' sentinels are.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Msg == "" && t.Kind == e.Kind
}

// New returns an error of kind k with a formatted message.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of the first Error in err's chain, or 0.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}
