package client

import "io"

// rowReader takes the rows of an answer apart as they come: a JSON list of objects.
type rowReader struct {
	from io.Reader
	buf  []byte // what came and was not given yet
	at   int    // in buf, where looking for ends goes on
	row  int    // in buf, where the row begins that has begun

	depth           int // of lists and objects within the row, itself included
	quoted, escaped bool
	place           place
}

// place is where in a list a rowReader is.
type place uint8

const (
	beforeList place = iota
	listBegun
	afterRow
	afterComma
	listEnded
)

// ended reports whether the list has.
func (r *rowReader) ended() bool { return r.place == listEnded }

// firstRead is how many bytes are read at a time at first.
const firstRead = 16 << 10

// more adds to rows those that came with the next bytes: at least one, unless the
// list ends.
func (r *rowReader) more(rows *table) error {
	for len(rows.given.Rows) == 0 && !r.ended() {
		if err := r.read(); err != nil {
			return err
		}
		for {
			row, ok, err := r.next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if err := rows.add(row); err != nil {
				return &formError{err}
			}
		}
	}
	return nil
}

// formError tells of an answer that cannot be read.
type formError struct{ error }

// read reads on. What was given is forgotten.
func (r *rowReader) read() error {
	r.buf = r.buf[:copy(r.buf, r.buf[r.row:])]
	r.at, r.row = r.at-r.row, 0
	if len(r.buf) == cap(r.buf) {
		r.buf = append(make([]byte, 0, max(firstRead, 2*cap(r.buf))), r.buf...)
	}
	n, err := r.from.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	switch {
	case n > 0:
		return nil // an error comes again
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// next returns the next row that has come whole.
func (r *rowReader) next() (row string, ok bool, err error) {
	for r.at < len(r.buf) {
		c := r.buf[r.at]
		r.at++
		switch {
		case r.depth > 0:
			if r.within(c) {
				row = string(r.buf[r.row:r.at])
				r.row, r.place = r.at, afterRow
				return row, true, nil
			}
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case !r.between(c):
			return "", false, &formError{errForm}
		}
	}
	if r.depth == 0 {
		r.row = r.at
	}
	return "", false, nil
}

// between looks at a byte outside of rows, and reports whether it may stand there.
func (r *rowReader) between(c byte) bool {
	switch {
	case c == '[' && r.place == beforeList:
		r.place = listBegun
	case c == ']' && (r.place == listBegun || r.place == afterRow):
		r.place = listEnded
	case c == ',' && r.place == afterRow:
		r.place = afterComma
	case c == '{' && (r.place == listBegun || r.place == afterComma):
		r.depth, r.row = 1, r.at-1
	default:
		return false
	}
	return true
}

// within looks at a byte of a row, and reports whether it is the last.
func (r *rowReader) within(c byte) bool {
	switch {
	case r.escaped:
		r.escaped = false
	case r.quoted && c == '\\':
		r.escaped = true
	case c == '"':
		r.quoted = !r.quoted
	case r.quoted:
	case c == '{' || c == '[':
		r.depth++
	case c == '}' || c == ']':
		r.depth--
		return r.depth == 0
	}
	return false
}
