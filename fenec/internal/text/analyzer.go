package text

import "context"

// An Analyzer is the options by which an index makes terms. The zero Analyzer is
// the default. An index and its queries must use the same.
type Analyzer struct {
	// Chars adds each single character of the scripts that are cut into pairs.
	Chars bool

	// Prefix, unless 0, adds to each word of the scripts that are not cut the
	// terms ^ followed by its first k characters, for each k from PrefixMin to
	// Prefix that is less than the characters of the word. A PrefixMin below 1
	// is 1.
	Prefix, PrefixMin int
}

// A Term is a term of a query and how often it is there.
type Term struct {
	Text  string
	Count uint32
}

// Terms returns the terms of a query in the order in which they first appear. It
// is safe for concurrent use.
func (a Analyzer) Terms(query string) []Term {
	terms, _ := a.TermsBefore(context.Background(), query) // which never ends
	return terms
}

// TermsBefore is Terms, but for a long query looks at ctx now and then, and returns
// its error once it has ended.
func (a Analyzer) TermsBefore(ctx context.Context, query string) ([]Term, error) {
	var b Bag
	b.counts.reset(len(query))
	b.counts.ended = ctx.Err
	if b.gather(a, query); b.counts.room < 0 {
		return nil, ctx.Err()
	}
	terms := make([]Term, len(b.counts.entries))
	for i := range terms {
		e := &b.counts.entries[i]
		terms[i] = Term{Text: string(b.counts.term(e)), Count: e.freq}
	}
	return terms, nil
}
