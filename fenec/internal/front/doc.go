// Package front keeps in memory, in order, the writes that a database has not
// yet folded into its base file.
//
// # Basics
//
// Keys live in numbered spaces. Each has versions, numbered by the sequence of
// the block that wrote them: a value, or a tombstone for a key that was taken
// away. A Front holds the versions of many blocks; a reader names a sequence
// and sees of each key the newest version up to it, so a snapshot is nothing but
// a number:
//
//	f := front.New()
//	f.Insert(7, key, 1, []byte("old"), false)
//	f.Insert(7, key, 2, []byte("new"), false)
//	value, tombstone, ok := f.Get(7, key, 1) // old
//
// An Overlay is the same for a single unfinished block, which has no sequence
// yet and may write one key many times.
//
// Iter moves over the keys of one space in both directions; FoldIter goes once
// over everything, in the order in which a fold or a block's publication wants
// it. Both yield tombstones, since those hide keys of whatever lies below.
//
// # Guarantees
//
// One goroutine at a time writes a Front, any number read it meanwhile, and no
// reader waits. What is inserted becomes visible a key at a time: atomicity comes
// from readers asking for sequences that have been announced, which the caller
// does after the last insert of a block. Slices handed out point into the front;
// they never change, and keep its memory alive. An Overlay is for one goroutine.
//
// # Memory
//
// Everything lies in chunks of 32-bit words, which refer to one another by
// number. The collector finds one pointer a chunk, that is, about one a MiB. A
// front starts at 2 KiB; its chunks double up to 1 MiB, and a value that would
// waste much of one gets a chunk of its own. A row costs about 42 bytes beside
// its key and value, each further version of it 24. Nothing is given back but with
// the whole front.
//
// # Limits
//
// The versions of one key are inserted by ascending sequence. Keys, values and
// the whole front are bounded by MaxKey, MaxValue and MaxBytes; the caller checks
// them, and inserting past them panics. A space has no limit of its own and cannot
// be emptied but key by key.
package front
