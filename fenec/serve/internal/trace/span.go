package trace

import (
	"math/rand/v2"
	"time"
)

// Span is a piece of work. It is for one goroutine at a time.
type Span struct {
	tracer     *Tracer
	ids        ids
	name       string
	server     bool
	began      time.Time
	ended      time.Time
	failed     bool
	attributes []attribute
}

// attribute is something known of a span. Its value is a string or an int.
type attribute struct {
	key   string
	value any
}

// Start begins the span of a request that came with these headers of W3C Trace
// Context, "" for none. It returns nil for one that is not traced.
func (t *Tracer) Start(name, parent, state string, at time.Time) *Span {
	if t == nil {
		return nil
	}
	id, ok := parseParent(parent)
	if ok {
		id.state = state
	} else {
		id = newTrace()
		id.sampled = t.sample >= 1 || rand.Float64() < t.sample
	}
	if !id.sampled {
		return nil
	}
	fill(id.span[:])
	return &Span{tracer: t, ids: id, name: name, server: true, began: at}
}

// Child adds a piece of the span that began and ended at these times.
func (s *Span) Child(name string, began, ended time.Time) {
	if s == nil {
		return
	}
	c := &Span{tracer: s.tracer, ids: s.ids, name: name, began: began, ended: ended}
	c.ids.parent = s.ids.span
	fill(c.ids.span[:])
	s.tracer.enqueue(c)
}

// Set notes something that is known of the span: a string or an int.
func (s *Span) Set(key string, value any) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// End ends the span.
func (s *Span) End(at time.Time, failed bool) {
	if s == nil {
		return
	}
	s.ended, s.failed = at, failed
	s.tracer.enqueue(s)
}
