package posting

// Cursor walks ordered keys; the iterators of package store are cursors. SeekLT
// is followed by another seek only, never by Next.
//
// What Key and Value return stays readable, and Value unchanged, until the same
// cursor moves: chunks are read where they lie.
type Cursor interface {
	SeekGE(key []byte) // moves to the first key at or after key
	SeekLT(key []byte) // moves to the last key before key
	Next()             // moves to the following key
	Valid() bool       // reports whether the cursor stands at a key
	Key() []byte
	Value() []byte
	Err() error // what ended the walk early, or nil
}
