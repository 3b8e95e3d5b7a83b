// Package row encodes documents so that one field is read without decoding the
// rest.
//
// [Encode] writes the fields of a document by their position in its collection.
// A [Row] reads them back: it is a view of the encoded bytes, copies nothing
// and finds a field through a table of offsets. Fields past those that are
// stored read as null, so that a field may be added to a collection without
// touching its rows. A row does not hold its fields' types: whoever reads a
// field says which type it was written with.
//
// # Layout
//
//	1 byte   version, 1
//	1 byte   width of an offset: 1, 2 or 4
//	uvarint  n, the number of fields
//	n bits   which fields are null, the least bit of a byte first
//	n × width  where each field's data ends, little endian, counted from the
//	         end of this table
//	         the data
//
// A field's data depends on its type:
//
//	bool             1 byte, 0 or 1
//	int, timestamp   1, 2, 4, 6 or 8 bytes, the fewest that hold it, little endian
//	float            8 bytes little endian, or 4 when a float32 is the same number
//	text, bytes      the bytes
//	vector           2 (f16) or 4 bytes a component, little endian
//	sparse           what value.AppendSparse writes
//	geo              8 bytes of the longitude and 8 of the latitude, as floats of 8
//	list, json       what value.Append writes
//
// # Damage
//
// Bytes that are no row give [ErrCorrupt] and never a panic, but a changed byte
// may also read as another value. [Seal] adds a checksum against that, and
// [Open] verifies it.
package row
