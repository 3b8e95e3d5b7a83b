package http1

import "bytes"

// Unknown is the Length of a message whose head names none.
const Unknown = -1

// Framing is what the fields of a head say about the end of the message and of
// the connection.
type Framing struct {
	// Length is the Content-Length, or Unknown.
	Length int64
	// Chunked tells that the body comes in chunks; Length is then Unknown.
	Chunked bool
	// Close tells that the sender does not go on with the connection.
	Close bool

	keepAlive, coded, hosted bool
}

// note takes one field into account.
func (f *Framing) note(field *Field) error {
	switch len(field.Name) {
	case len("host"):
		if field.Is("host") {
			return f.noteHost(field.Value)
		}
	case len("connection"):
		if field.Is("connection") {
			f.Close = f.Close || hasToken(field.Value, "close")
			f.keepAlive = f.keepAlive || hasToken(field.Value, "keep-alive")
		}
	case len("content-length"):
		if field.Is("content-length") {
			return f.noteLength(field.Value)
		}
	case len("transfer-encoding"):
		if field.Is("transfer-encoding") {
			return f.noteCoding(field.Value)
		}
	}
	return nil
}

func (f *Framing) noteHost(value []byte) error {
	if f.hosted {
		return errHostTwice
	}
	f.hosted = true
	if !validHost(value) {
		return errHost
	}
	return nil
}

func (f *Framing) noteLength(value []byte) error {
	if f.Length != Unknown {
		return errLengthTwice
	}
	n, ok := parseLength(value)
	if !ok {
		return errLength
	}
	f.Length = n
	return nil
}

func (f *Framing) noteCoding(value []byte) error {
	if f.coded {
		return errCodingTwice
	}
	f.coded = true
	if !EqualFold(value, "chunked") {
		return errCoding
	}
	f.Chunked = true
	return nil
}

// finish checks the fields against each other and settles Close.
func (f *Framing) finish(minor int) error {
	if f.Chunked && f.Length != Unknown {
		return errLengthCoding
	}
	if f.Chunked && minor == 0 {
		return errCodingVersion
	}
	f.Close = f.Close || minor == 0 && !f.keepAlive
	return nil
}

// parseLength reads 1 to 18 digits: lengths past that do not exist.
func parseLength(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// parseFields parses the header lines behind the start line, keeping fields'
// storage.
func parseFields(fields []Field, f *Framing, head []byte) ([]Field, error) {
	fields = fields[:0]
	for {
		line, rest, err := nextLine(head)
		if err != nil {
			return fields, err
		}
		if len(line) == 0 {
			return fields, nil
		}
		field, err := parseField(line)
		if err != nil {
			return fields, err
		}
		if err := f.note(&field); err != nil {
			return fields, err
		}
		fields, head = append(fields, field), rest
	}
}

// nextLine cuts the first line off, and its end off the line.
func nextLine(head []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(head, '\n')
	if i < 0 {
		return nil, nil, errLineEnd
	}
	line, err = cutLine(head[:i+1])
	return line, head[i+1:], err
}

// parseVersion reads HTTP/1.0 or HTTP/1.1.
func parseVersion(b []byte) (minor int, ok bool) {
	switch string(b) {
	case "HTTP/1.1":
		return 1, true
	case "HTTP/1.0":
		return 0, true
	}
	return 0, false
}
