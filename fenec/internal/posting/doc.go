// Package posting keeps the posting lists of an inverted index as bytes under
// ordered keys, and finds the best documents of a query in them.
//
// A posting says that a document has a term: for a text how often ([Text]), for
// a sparse vector with what weight ([Weights]). The postings of a term are
// stored in chunks, by ascending document id. [Merge] folds changes of a term
// into its chunks, and hands back keys and values for the caller to store. A
// [List] reads one term: its chunks, through a [Cursor], overlaid with changes
// that are not folded yet. A [Query], made by [Match] or [Dot] of several lists,
// ranks documents.
//
// Nothing here has state beside its arguments. A List and a Query are for one
// goroutine and one use.
//
// # Keys
//
// Every term has a prefix, and no prefix begins another one ([TermPrefix],
// [IndexPrefix]).
//
//	prefix          the head: the number of postings of the term, and a chunk
//	prefix ++ id8   a further chunk; id8 is its first id, big endian
//
// # Chunks
//
// Numbers are little endian; uv is an unsigned varint. A chunk holds blocks of up
// to 128 postings and is about 2 KB at most, so that two fit a page.
//
//	version  1 byte, 1
//	flags    1 byte: 1 weights, 2 head, 4 wide
//	blocks   1 byte, from 1
//	table    2 bytes: where the table of blocks is
//	first    uv: the first id
//	df       uv: the number of postings in all chunks of the term   (head only)
//	bound    of all postings of the term                            (head only)
//	         the blocks' arrays
//	table    an entry for each block
//	sum      4 bytes: CRC32C (Castagnoli) of the prefix and all of this
//
// The sum is checked whenever a list comes to a chunk, before anything else of it
// is read. It does not tell of chunks that are missing.
//
// An entry of the table, of a text and of weights:
//
//	last    4 bytes, or 8 if wide: last id of the block, less the chunk's first
//	start   2 bytes: where the arrays of the block are
//	count   1 byte: postings in the block, less 1
//	ids     1 byte: bits of an id
//	tf      1 byte: bits of a frequency       |  least   4 bytes, a float32
//	length  1 byte: bits of a length          |  most    4 bytes, a float32
//
// The arrays of a block begin at whole bytes. Their elements are of the same
// width, the first in the lowest bits, so that any element is read where it lies:
//
//	ids      less the last id of the block before plus 1 (the chunk's first id
//	         in the first block)
//	tf       frequencies less 1             |  weights, float32
//	lengths  of the documents, in terms     |
//	bound    of the block                   |
//
// Widths of 58 to 63 bits are not used, so that 8 bytes always hold an element;
// they may reach into what follows, of which the table makes sure there is enough.
//
// The bound of a text is a byte with the number of pairs that follow, up to 4,
// each a uv frequency and a uv length. For every posting there is a pair of at
// least its frequency and at most its length, so its contribution to a score is
// never above that of some pair, whatever the parameters. The bound of weights is
// the least and the most, two float32. A head's bound may be wider than need be.
package posting
