package router

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// maxObject bounds the body of a request under /_shard/.
const maxObject = 1 << 20

// members are those that a JSON object may have: how the value of each is read. The
// readers give an error that says what the value must be.
type members map[string]func(value []byte) error

// readMembers reads a request's body: a JSON object of the given members. A member
// that is null is as one that is absent, and no body as an empty object. Anything
// else is refused, unknown members too, so that nobody takes for done what this
// router does not do.
func readMembers(r *http.Request, known members) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	return known.readBody(body)
}

// readBody reads a body as readMembers does.
func (known members) readBody(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if why := known.read(body); why != nil {
		return badBody(why.Error())
	}
	return nil
}

// hasMember reports whether an object has the member, be it null.
func hasMember(object []byte, name string) (has bool) {
	eachMember(object, func(member string, _ []byte) error {
		has = has || member == name
		return nil
	})
	return has
}

// readBody reads a request's body, of at most maxObject bytes.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxObject+1))
	switch {
	case err != nil:
		return nil, badBody("it was cut short")
	case len(body) > maxObject:
		return nil, errTooLarge
	case !utf8.Valid(body):
		return nil, badBody("it is not UTF-8")
	}
	return body, nil
}

// read reads an object.
func (known members) read(object []byte) error {
	return eachMember(object, func(name string, value []byte) error {
		read, ok := known[name]
		if !ok {
			return fmt.Errorf("unknown member %q", name)
		}
		if isNull(value) {
			return nil
		}
		if err := read(value); err != nil {
			return fmt.Errorf("%q %w", name, err)
		}
		return nil
	})
}

func isNull(value []byte) bool { return string(value) == "null" }

// eachMember calls f with each member of a JSON object, and refuses one that is there
// twice.
func eachMember(object []byte, f func(name string, value []byte) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return errNoObject
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return errNoObject
		}
		if seen[name] {
			return fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return errNoObject
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errNoObject
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the object")
	}
	return nil
}

var errNoObject = errors.New("it is not a JSON object")

// The readers of members, each for one form of value.

func textTo(into *string) func([]byte) error {
	return func(value []byte) error {
		if value[0] != '"' || json.Unmarshal(value, into) != nil {
			return errors.New("must be a text")
		}
		return nil
	}
}

func boolTo(into *bool) func([]byte) error {
	return func(value []byte) error {
		if json.Unmarshal(value, into) != nil {
			return errors.New("must be true or false")
		}
		return nil
	}
}

// countTo takes whole numbers from 0 on, written without point and exponent.
func countTo(into *int64) func([]byte) error {
	return func(value []byte) error {
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 {
			return errors.New("must be a whole number, 0 or above")
		}
		*into = n
		return nil
	}
}

// textsTo takes an object of texts.
func textsTo(into *map[string]string) func([]byte) error {
	return func(value []byte) error {
		texts := map[string]string{}
		err := eachMember(value, func(name string, value []byte) error {
			var text string
			if err := textTo(&text)(value); err != nil {
				return fmt.Errorf("of %q: its value %w", name, err)
			}
			texts[name] = text
			return nil
		})
		switch {
		case errors.Is(err, errNoObject):
			return errors.New("must be an object of texts")
		case err != nil:
			return fmt.Errorf("cannot be read: %w", err)
		}
		*into = texts
		return nil
	}
}

func badBody(why string) error {
	return refusing(http.StatusBadRequest, "the body cannot be read: "+why)
}
