package plan

// countEntries counts the rows that pass the filter by the entries of an index,
// if these decide it. When ok is false nothing has been done.
func (r *run) countEntries() (n int64, ok bool, err error) {
	if r.also != nil || r.live || !r.cond.whole {
		return 0, false, nil
	}
	res := resolver{run: r, f: r.f}
	spans, ok := res.exactly(&r.cond)
	if !ok {
		return 0, false, nil
	}
	r.trace.begin()
	defer r.trace.end()
	r.trace.entries(r, &option{spans: spans})
	for i := range spans {
		in, err := r.t.CountIndex(spans[i].index, spans[i].lower, spans[i].upper)
		if err != nil {
			return 0, false, err
		}
		n += in
	}
	return n, true, nil
}

// exactly returns the entries of one index, each once, whose rows are those that
// pass c. ok is false where it takes more than entries to tell.
func (r *resolver) exactly(c *condition) (spans []span, ok bool) {
	first := &c.terms[0]
	if first.isBound() {
		for i := range c.terms {
			if t := &c.terms[i]; !t.isBound() || t.index != first.index {
				return nil, false
			}
		}
		spans, exact, ok := r.between(&first.target, c.terms)
		return spans, exact && ok
	}
	if len(c.terms) > 1 {
		return nil, false
	}
	switch first.op {
	case opEither:
		return r.union(first)
	case opEqual, opIn, opInner:
		if first.isID() {
			return nil, false
		}
		spans, exact, ok := r.valuesIn(first, allIDs)
		return spans, exact && ok
	}
	return nil, false
}

// union is exactly for a choice of conditions.
func (r *resolver) union(t *term) (spans []span, ok bool) {
	for i := range t.either {
		side, ok := r.exactly(&t.either[i])
		if !ok || len(side) > 0 && len(spans) > 0 && side[0].index != spans[0].index {
			return nil, false
		}
		spans = append(spans, side...)
	}
	return inOrderOf(spans), true
}
