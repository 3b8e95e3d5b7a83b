package ql

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// An Error says where and why a text is not what it was parsed as. It is an
// error of the kind query.
type Error struct {
	Offset int    // in characters from the start of the text, from 0
	Line   int    // from 1
	Column int    // in characters, from 1
	Msg    string // what was wrong, without the position
	Near   string // the offending word as written, cut when long; empty at the end of the text
}

// Error returns the message with its position.
func (e *Error) Error() string { return fault.Query.String() + ": " + e.text() }

// Unwrap returns the error as the engine's layers pass errors on: with its
// kind and the same text.
func (e *Error) Unwrap() error { return &fault.Error{Kind: fault.Query, Msg: e.text()} }

func (e *Error) text() string {
	return "line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ": " + e.Msg
}

// errorAt returns an error at the byte offset at of text.
func errorAt(text string, at int, near, msg string) *Error {
	before := text[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &Error{
		Offset: utf8.RuneCountInString(before),
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(line) + 1,
		Msg:    msg,
		Near:   shorten(near),
	}
}

// maxNear is the longest excerpt of a text that an error repeats, in bytes.
const maxNear = 48

// shorten cuts s to what an error repeats of it.
func shorten(s string) string {
	if len(s) <= maxNear {
		return s
	}
	cut := maxNear
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// quote returns the word s in quotation marks, as an error shows it. A string
// has its own, and is shown on one line.
func quote(s string) string {
	s = shorten(s)
	if strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "'") {
		return strings.Map(oneLine, s)
	}
	return strconv.Quote(s)
}

func oneLine(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
