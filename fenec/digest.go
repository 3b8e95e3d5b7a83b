package fenec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// Digest says in a few numbers what a database holds at one sequence, to be compared
// with that of a copy. Two copies that hold the same writes have equal digests,
// however they came to them: write by write, from an image, after a crash or a
// compaction. What lies in indexes and graphs follows from the rows and has no part
// in it, nor has how far an index has been built.
//
// Copies that differ in a row have different digests but for one case in 2^32, as a
// row goes in by its id, its length and its CRC32C. That finds accidents and faults of
// programs. It is no proof against somebody who looks for rows of one checksum.
//
// Digests of different releases may differ in Schema for the same definitions.
type Digest struct {
	Seq         uint64             // it was made at
	Schema      uint64             // hash of the definitions of all collections
	Collections []CollectionDigest // by name, the server's own included
}

// CollectionDigest is a Digest's part on one collection. Rows that are expired and
// have not been deleted count.
type CollectionDigest struct {
	Name string
	Rows uint64
	Sum  uint64 // of a hash of each row, mod 2^64; 0 unless Known

	// Known is whether the sum is: always, but for rows of a file that was written
	// before sums were kept. Theirs becomes known with the first write to the
	// collection that finds at most 5000 rows. DigestScan knows every sum.
	Known bool

	Chunks []DigestChunk // of DigestScan alone
}

// DigestChunk is a CollectionDigest's part on rows that follow each other by id.
type DigestChunk struct {
	First, Last uint64 // ids of the first row and of the last
	Rows        uint64
	Sum         uint64 // their part of the collection's
}

// Known reports whether the sums of all collections are.
func (d *Digest) Known() bool {
	return !slices.ContainsFunc(d.Collections, func(c CollectionDigest) bool { return !c.Known })
}

// Root returns a hash of all of d but Seq and the chunks: it is equal where schemas,
// names, rows and sums are. A sum that is not known differs from any that is: compare
// roots of Digest with each other, and those of DigestScan with each other. A copy made of
// an image and of all writes since knows the sums that its original knows.
func (d *Digest) Root() uint64 {
	h := sha256.New()
	b := binary.BigEndian.AppendUint64(nil, d.Schema)
	for i := range d.Collections {
		b = d.Collections[i].append(b)
		h.Write(b)
		b = b[:0]
	}
	h.Write(b)
	return short(h)
}

// append appends what Root hashes of c.
func (c *CollectionDigest) append(dst []byte) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(c.Name))), c.Name...)
	dst = binary.BigEndian.AppendUint64(dst, c.Rows)
	if !c.Known {
		return append(dst, 0)
	}
	return binary.BigEndian.AppendUint64(append(dst, 1), c.Sum)
}

// short returns the first 8 bytes of a hash.
func short(h hash.Hash) uint64 { return binary.BigEndian.Uint64(h.Sum(nil)) }

// Digest returns the digest of the moment. It looks at no row: each write keeps the
// sums, in the same block.
func (db *DB) Digest(ctx context.Context) (Digest, error) {
	return db.digest(ctx, func(r *table.Reader, d *CollectionDigest) error {
		f, err := r.Figures()
		d.Rows, d.Sum, d.Known = uint64(f.Rows), f.Sum, !f.Unsummed
		return err
	})
}

// DigestScan returns the digest of the moment as a look at every row gives it. Each
// collection comes with its chunks, in order of ids: of chunk rows each, and the last
// of those that are left; with one of all rows if chunk is 0 or less. Comparing them
// with those of another copy at the same sequence tells where the first difference is.
//
// Every row is held against its checksum; one that is damaged gives ErrCorrupt. The
// scan is a read like others: if it takes so long that writers have to wait it ends
// with ErrSnapshotTooOld.
func (db *DB) DigestScan(ctx context.Context, chunk int) (Digest, error) {
	return db.digest(ctx, func(r *table.Reader, d *CollectionDigest) error {
		d.Known = true
		return r.Spans(ctx, max(chunk, 0), func(s table.Span) {
			d.Rows += uint64(s.Rows)
			d.Sum += s.Sum
			d.Chunks = append(d.Chunks, DigestChunk{s.First, s.Last, uint64(s.Rows), s.Sum})
		})
	})
}

// digest makes a digest of what each tells of the collections, at one snapshot.
func (db *DB) digest(ctx context.Context, each func(*table.Reader, *CollectionDigest) error) (out Digest, err error) {
	if err := ctx.Err(); err != nil {
		return Digest{}, err
	}
	read, err := db.store.Read()
	if err != nil {
		return Digest{}, public(err)
	}
	defer read.End()
	defer base.Recover(db.Path(), base.Guard(), &err)
	list := db.catalogAt(read.Seq()).Collections()
	out = Digest{Seq: read.Seq(), Schema: schemaHash(list), Collections: make([]CollectionDigest, len(list))}
	for i, c := range list {
		out.Collections[i].Name = c.Name
		if err := each(table.NewReader(&read.View, c), &out.Collections[i]); err != nil {
			return Digest{}, public(err)
		}
	}
	slices.SortFunc(out.Collections, func(a, b CollectionDigest) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// schemaHash hashes definitions, which are in order of their numbers, in the form they
// are stored in: with the numbers of collections and of spaces.
func schemaHash(list []*catalog.Collection) uint64 {
	h := sha256.New()
	var b []byte
	for _, c := range list {
		b = settled(c).Append(b[:0])
		h.Write(binary.AppendUvarint(nil, uint64(len(b))))
		h.Write(b)
	}
	return short(h)
}

// settled returns the definition c without what tells whether an index is built
// yet, which each copy of a database does in its own time: all indexes are in the
// building, in order of their spaces.
func settled(c *catalog.Collection) *catalog.Collection {
	out := &catalog.Collection{Number: c.Number, Name: c.Name, RowSpace: c.RowSpace, Fields: slices.Clone(c.Fields)}
	for i := range out.Fields {
		out.Fields[i].Index = nil
	}
	out.Building = slices.SortedFunc(slices.Values(c.Indexes()), func(a, b *catalog.Index) int { return cmp.Compare(a.Space, b.Space) })
	return out
}
