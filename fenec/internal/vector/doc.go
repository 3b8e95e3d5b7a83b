// Package vector measures vectors of float32 components: the same on every
// platform where a score is delivered, and as fast as the processor can where
// candidates are chosen.
//
// # Scores
//
// [Score] is how near two vectors are by a [Metric], and a [Scorer] measures
// many vectors against one. [Product], [Distance] and [Similarity] are what
// scores are made of. Their sums are in float64 and of one order: component i is
// added to sum i%16, and the 16 sums are added up by halves, 0 to 7 to 8 to 15
// and so on. Go and assembly follow this order to the last bit, so a score does
// not depend on the processor. Scores of vectors with finite components are
// finite: what a float32 cannot hold becomes the greatest one, with its sign.
// [Top] keeps the best hits of a scan.
//
// # Candidates
//
// [DotMany] and [SquaredL2Many], and the same with rows of float16s, measure a
// list of rows in one call, and fetch those of the next one meanwhile. Their sums are in float32
// and differ in the last bits between processors. So they choose candidates,
// never the order of an answer. Rows that begin at multiples of 64 bytes are
// measured up to 1.7 times as fast as others.
//
// A [Quantizer] makes short codes of vectors, of a byte ([Int8]) or a bit
// ([Bits]) a component, which choose candidates without the vectors. Encoded,
// it is
//
//	1 byte   1 for Int8, 2 for Bits
//	1 byte   the metric: 0 cosine, 1 l2, 2 dot
//	4 bytes  the dimension, little endian
//	the mean, or up to 128 centroids, as float32s, little endian
//	4 bytes  CRC32C of all before, little endian
//
// Codes themselves are for memory only.
//
// # Processors
//
// On amd64 the package uses AVX2 and AVX-512 where the processor has them; other
// processors, and builds with the tag purego, use Go. Components must be finite.
// A row is a pointer to its first component, at any address that the processor
// reads such a component from; the caller vouches that it is long enough.
package vector
