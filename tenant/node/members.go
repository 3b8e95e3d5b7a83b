package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// members reads the members of a JSON object, none of which may come twice: of two the
// sender may have meant either.
func members(text []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	list := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := name.(string) // the decoder lets nothing else stand for a key
		if _, twice := list[key]; twice {
			return nil, fmt.Errorf("%.64q is given twice", key)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		list[key] = value
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return list, nil
}
