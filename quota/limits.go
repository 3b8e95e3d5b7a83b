package quota

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The limits' names: keys of their JSON form, and what a Refusal names.
const (
	KeyBytes             = "bytes"
	KeyRows              = "rows"
	KeyStreams           = "streams"
	KeyRequests          = "requests"
	KeyRowsPerSecond     = "rows_per_second"
	KeyBytesPerSecond    = "bytes_per_second"
	KeyRequestsPerSecond = "requests_per_second"
)

// Limits are what a tenant may hold, have open and do. A zero field bounds
// nothing; none is negative. The JSON form is a flat object of the fields that
// are set.
type Limits struct {
	// Ceilings of what the database holds.
	Bytes int64 `json:"bytes,omitempty"` // live bytes, as fenec.Stats counts them
	Rows  int64 `json:"rows,omitempty"`  // documents, but those of collections whose name begins with _

	// Bounds of what is open at one time.
	Streams  int64 `json:"streams,omitempty"`  // subscriptions
	Requests int64 `json:"requests,omitempty"` // requests being answered

	// Rates. A burst of one second's worth is allowed.
	RowsPerSecond     int64 `json:"rows_per_second,omitempty"`  // written and deleted
	BytesPerSecond    int64 `json:"bytes_per_second,omitempty"` // appended to the log
	RequestsPerSecond int64 `json:"requests_per_second,omitempty"`
}

// MaxJSON is how long the JSON form of limits may be, in bytes.
const MaxJSON = 4 << 10

// Parse reads the JSON form: an object of whole numbers above 0, in which a null
// is as a key left out. An error names the key that is wrong.
func Parse(text []byte) (Limits, error) {
	if len(text) > MaxJSON {
		return Limits{}, fmt.Errorf("quota: %d bytes are too many", len(text))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var l Limits
	if err := l.parseObject(dec); err != nil {
		return Limits{}, fmt.Errorf("quota: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Limits{}, errors.New("quota: something follows the object")
	}
	return l, nil
}

// UnmarshalJSON reads the JSON form as Parse does.
func (l *Limits) UnmarshalJSON(text []byte) (err error) {
	*l, err = Parse(text)
	return err
}

func (l *Limits) parseObject(dec *json.Decoder) error {
	open, err := dec.Token()
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if open != json.Delim('{') {
		return errors.New("want an object")
	}
	seen := map[string]bool{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		key := name.(string) // the decoder lets nothing else stand for a key
		if seen[key] {
			return fmt.Errorf("%.64q is given twice", key)
		}
		seen[key] = true
		if err := l.parseMember(dec, key); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return fmt.Errorf("not JSON: %w", err)
	}
	return nil
}

func (l *Limits) parseMember(dec *json.Decoder, key string) error {
	field := l.field(key)
	if field == nil {
		return fmt.Errorf("unknown key %.64q", key)
	}
	v, err := dec.Token()
	if err != nil {
		return fmt.Errorf("%q: not JSON: %w", key, err)
	}
	if v == nil {
		return nil
	}
	number, ok := v.(json.Number)
	if !ok {
		return fmt.Errorf("%q: want a whole number above 0", key)
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("%q: want a whole number above 0, not %.32s", key, number)
	}
	*field = n
	return nil
}

// field returns the limit of that name, or nil.
func (l *Limits) field(key string) *int64 {
	switch key {
	case KeyBytes:
		return &l.Bytes
	case KeyRows:
		return &l.Rows
	case KeyStreams:
		return &l.Streams
	case KeyRequests:
		return &l.Requests
	case KeyRowsPerSecond:
		return &l.RowsPerSecond
	case KeyBytesPerSecond:
		return &l.BytesPerSecond
	case KeyRequestsPerSecond:
		return &l.RequestsPerSecond
	}
	return nil
}

// boundsWrites reports whether the database must ask about its blocks.
func (l *Limits) boundsWrites() bool {
	return l.Bytes > 0 || l.Rows > 0 || l.RowsPerSecond > 0 || l.BytesPerSecond > 0
}

// text returns the JSON form.
func (l Limits) text() []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // numbers can always be written
	}
	return text
}
