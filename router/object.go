package router

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"
)

// maxObject bounds the body of a request under /_shard/.
const maxObject = 1 << 20

// readObject reads a request's body: a flat JSON object whose members are texts
// with the given names. A member that is null is as one that is absent, and no
// body as an empty object. Anything else is refused, unknown members too, so that
// nobody takes for done what this router does not do.
func readObject(r *http.Request, names ...string) (map[string]string, error) {
	if r.Body == nil {
		return map[string]string{}, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxObject+1))
	if err != nil {
		return nil, badBody("it was cut short")
	}
	if len(body) > maxObject {
		return nil, errTooLarge
	}
	fields := map[string]string{}
	if len(bytes.TrimSpace(body)) == 0 {
		return fields, nil
	}
	if !utf8.Valid(body) {
		return nil, badBody("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, badBody("it is not a JSON object")
	}
	for d.More() {
		if err := readMember(d, fields, names); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, badBody("it is not a JSON object")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, badBody("something follows the object")
	}
	return fields, nil
}

// readMember reads one name and its value.
func readMember(d *json.Decoder, fields map[string]string, names []string) error {
	token, err := d.Token()
	name, ok := token.(string)
	if err != nil || !ok {
		return badBody("it is not a JSON object")
	}
	if !slices.Contains(names, name) {
		return badBody(fmt.Sprintf("unknown member %q", name))
	}
	if _, ok := fields[name]; ok {
		return badBody(fmt.Sprintf("%q is there twice", name))
	}
	token, err = d.Token()
	if err != nil {
		return badBody("it is not a JSON object")
	}
	switch value := token.(type) {
	case string:
		fields[name] = value
	case nil:
	default:
		return badBody(fmt.Sprintf("%q must be a text", name))
	}
	return nil
}

func badBody(why string) error {
	return refusing(http.StatusBadRequest, "the body cannot be read: "+why)
}
