package replication

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// Digest sums up the rows that the sender holds after the change Seq. A replica that
// stands at the same change has the same Root, or is no copy.
type Digest struct {
	Seq  uint64
	Root uint64

	// Collections say where a difference is. They are sorted by name; there may be none.
	Collections []CollectionDigest
}

// CollectionDigest sums up the rows of one collection.
type CollectionDigest struct {
	Name string
	Rows uint64
	Sum  uint64
}

const (
	// maxCollections bounds the collections that a digest names, in bytes.
	maxCollections = 64 << 10
	// minCollection is the least that one of them takes up, in bytes.
	minCollection = 17
)

// Name adds the collections if they are not too many to be sent.
func (d *Digest) Name(list []CollectionDigest) {
	bytes := 0
	for _, c := range list {
		bytes += minCollection + binary.MaxVarintLen64 + len(c.Name)
	}
	if bytes <= maxCollections {
		d.Collections = list
	}
}

// Differing returns the names of the collections in which d and other differ, as far as
// both name any: none if one of them does not.
func (d Digest) Differing(other Digest) []string {
	if len(d.Collections) == 0 || len(other.Collections) == 0 {
		return nil
	}
	var names []string
	a, b := d.Collections, other.Collections
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			names, a = append(names, a[0].Name), a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			names, b = append(names, b[0].Name), b[1:]
		default:
			if a[0] != b[0] {
				names = append(names, a[0].Name)
			}
			a, b = a[1:], b[1:]
		}
	}
	return names
}

// check tells what is wrong with d: names are texts, each there once, in order.
func (d Digest) check() error {
	for i, c := range d.Collections {
		if !utf8.ValidString(c.Name) || i > 0 && c.Name <= d.Collections[i-1].Name {
			return fmt.Errorf("collection %q in a digest: %w", c.Name, ErrCorrupt)
		}
	}
	return nil
}

func (d Digest) append(b []byte) []byte {
	b = appendNumbers(b, d.Seq, d.Root, uint64(len(d.Collections)))
	for _, c := range d.Collections {
		b = appendNumbers(b, c.Rows, c.Sum)
		b = binary.AppendUvarint(b, uint64(len(c.Name)))
		b = append(b, c.Name...)
	}
	return b
}

func digest(b []byte) (Message, error) {
	if len(b) < digestLen {
		return nil, fmt.Errorf("digest of %d bytes: %w", len(b), ErrCorrupt)
	}
	n := numbers(b[:digestLen])
	f := fields{rest: b[digestLen:]}
	if n[2] > uint64(len(f.rest)/minCollection) {
		return nil, fmt.Errorf("%d collections in a digest of %d bytes: %w", n[2], len(b), ErrCorrupt)
	}
	d := Digest{Seq: n[0], Root: n[1]}
	for range n[2] {
		c := CollectionDigest{Rows: f.uint64(), Sum: f.uint64()}
		c.Name = f.text()
		d.Collections = append(d.Collections, c)
	}
	if f.bad || len(f.rest) > 0 {
		return nil, fmt.Errorf("digest of %d bytes: %w", len(b), ErrCorrupt)
	}
	return d, d.check()
}

// text takes a text after its length.
func (f *fields) text() string {
	n := f.uvarint()
	if n > uint64(len(f.rest)) {
		f.bad = true
		return ""
	}
	return string(f.take(int(n)))
}
