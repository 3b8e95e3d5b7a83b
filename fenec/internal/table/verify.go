package table

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// maxFindings bounds how many faults of one collection Verify reports.
const maxFindings = 20

// Verify compares everything that is known twice: rows with their checksums,
// every index with the rows, figures with a recount, unique values with each
// other. It returns what does not agree.
func Verify(v *store.View) error {
	cat, err := loadCatalog(v)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range cat.Collections() {
		f := verifier{Reader: NewReader(v, c)}
		f.run()
		errs = append(errs, f.found...)
	}
	return errors.Join(errs...)
}

type verifier struct {
	*Reader
	found []error
}

func (f *verifier) report(format string, args ...any) {
	if len(f.found) < maxFindings {
		args = append([]any{ErrCorrupt, f.col.Name}, args...)
		f.found = append(f.found, fmt.Errorf("%w: collection %q: "+format, args...))
	}
}

func (f *verifier) run() {
	var counted Figures
	s := f.Scan(0, ^uint64(0), false)
	for s.Next() {
		counted.Rows++
		counted.LiveBytes += int64(len(s.Row()))
		counted.Highest = s.ID()
		counted.Sum += s.hash()
		f.entries(s.ID(), bytes.Clone(s.Row()))
	}
	if err := s.Err(); err != nil {
		f.report("%w", err)
		return
	}
	known, err := f.Figures()
	if err != nil {
		f.report("%w", err)
		return
	}
	wrongSum := !known.Unsummed && counted.Sum != known.Sum
	if counted.Rows != known.Rows || counted.LiveBytes != known.LiveBytes || counted.Highest > known.Highest || wrongSum {
		f.report("figures are %+v, counted %+v", known, counted)
	}
	for _, x := range f.col.Indexes() {
		switch {
		case !f.col.Built(x) || x.Kind == catalog.HNSW:
		case x.Kind.Search():
			f.postings(x)
		default:
			f.index(x, counted.Rows)
		}
	}
}

// entries reports what cannot be read of a row, and the index entries that it
// lacks.
func (f *verifier) entries(id uint64, b []byte) {
	r, err := row.Parse(b)
	if err != nil {
		f.report("id %d: %w", id, err)
		return
	}
	for i := range f.col.Fields {
		field := &f.col.Fields[i]
		if field.Dropped() {
			continue
		}
		if _, err := r.Field(i, field.Type); err != nil {
			f.report("id %d, field %q: %w", id, field.Name, err)
		}
	}
	for _, x := range f.col.Indexes() {
		if !f.col.Built(x) || x.Kind.Search() {
			continue
		}
		e, err := appendEntry(nil, f.col, x, id, &r)
		if err != nil {
			continue // its field was reported
		}
		got, err := f.view.Get(x.Space, e)
		if err != nil || got == nil {
			f.report("id %d is missing in the index of %q (%v)", id, f.col.PathName(x), err)
		}
	}
}

// index reports entries that no row accounts for, and unique values held
// twice. Every row has its entry, so the count decides the former.
func (f *verifier) index(x *catalog.Index, rows int64) {
	name := f.col.PathName(x)
	var last []byte
	var n int64
	s := f.Index(x, nil, nil, false)
	for s.Next() {
		n++
		k := s.ValueKey()
		if x.Kind == catalog.Unique && bytes.Equal(k, last) && !bytes.Equal(k, nullKey) && !key.Cut(k) {
			f.report("the unique index of %q holds a value twice, the second time for id %d", name, s.ID())
		}
		last = append(last[:0], k...)
	}
	if err := s.Err(); err != nil {
		f.report("%w", err)
	}
	if n != rows {
		f.report("the index of %q has %d entries for %d rows", name, n, rows)
	}
}
