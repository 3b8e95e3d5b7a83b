package client

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// eventReader reads server-sent events (WHATWG HTML, section 9.2), as far as a
// server of subscriptions sends them: one line of data for each.
type eventReader struct{ lines *bufio.Reader }

func newEventReader(r io.Reader) *eventReader { return &eventReader{bufio.NewReader(r)} }

// next returns the name and the data of the next event.
func (r *eventReader) next() (name, data string, err error) {
	for {
		line, err := r.lines.ReadBytes('\n')
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return "", "", err
		}
		switch line := string(bytes.TrimRight(line, "\r\n")); {
		case line == "" && data != "":
			return name, data, nil
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		}
	}
}

// parseEvent returns the event that a name and data stand for. An error event is an
// Error.
func parseEvent(name, data string) (fenec.Event, error) {
	ev := fenec.Event{Kind: fenec.EventChange}
	members, err := membersOf(data)
	if err != nil {
		return ev, misread(err)
	}
	rows := "puts"
	switch name {
	case "error":
		return ev, parseFailure(data)
	case "seed":
		ev.Kind, rows = fenec.EventSeed, "rows"
	}
	if err := readEvent(&ev, members, rows); err != nil {
		return ev, misread(err)
	}
	return ev, nil
}

// readEvent reads the members of an event, whose rows are under that key.
func readEvent(ev *fenec.Event, members rawMembers, rows string) (err error) {
	raw, _ := members.get("seq")
	if ev.Seq, err = numberOf(raw); err != nil {
		return err
	}
	raw, _ = members.get(rows)
	var t table
	if _, err := eachElement(raw, t.add); err != nil {
		return err
	}
	ev.Rows = rowsResult(&t, ev.Seq, false)
	if ev.Kind == fenec.EventSeed {
		return nil
	}
	raw, _ = members.get("schema")
	ev.Schema = raw == "true"
	raw, _ = members.get("dels")
	_, err = eachElement(raw, func(raw string) error {
		id, err := numberOf(raw)
		ev.Dels = append(ev.Dels, id)
		return err
	})
	return err
}

// parseFailure returns the error of the event that ends a subscription.
func parseFailure(data string) error {
	v, err := value.ParseJSONString(data)
	if err != nil {
		return misread(err)
	}
	status, _ := member(v, "status")
	e := &Error{Status: int(status), Message: parseRefusal(data).message}
	e.err = kindOf(e.Status, e.Message)
	return e
}
