// Package client speaks to a served database with the types of package fenec, so
// that code moves between an embedded and a served database by one line:
//
//	db, err := fenec.Open("books.fenec", fenec.Options{})
//	db, err := client.Open("https://db.example", client.Options{Token: client.NewSecret("…")})
//
// A [DB] runs statements: Query, Exec, Batch, Rows and Subscribe are those of
// fenec.DB and give its Results, Rows and Events. [Database] is what the two have in
// common, for code that takes either. Feed and Consume read what was written, with
// the documents; consumers are places in it that the server keeps. A DB is safe for
// concurrent use, keeps its connections for later requests, and is to be closed.
//
// # Faults of the way
//
// A statement that only reads is sent again when the connection breaks or the
// server says that it cannot answer now (429, 502, 503), after a pause that grows, or
// as long as the server asks for, up to Options.Retries times and until the context
// ends. So is a write, and it happens once all the same: it carries an
// Idempotency-Key, and the server answers it again as it did the first time. Without
// keys (Options.NoKeys) a write is sent once. Neither a compact nor a create index
// takes a key. A write that got no answer may have happened: it fails with
// [ErrNoAnswer].
//
// A subscription outlives its connections. It goes on from the last event that was
// given, after 250 ms, doubling to 15 s while nobody answers, and ends with an error
// that says more than that, such as a refused token.
//
// # Reading what was written
//
// Behind one address may be servers that follow each other. [After] makes reads wait
// for a sequence, such as a Result.Seq of a write, and Options.ReadOwnWrites for
// whatever this DB has written.
//
// # Errors
//
// What a server refuses is an [Error] with the status and the server's words. It
// matches the errors of package fenec, as fenec.ErrNotFound, with errors.Is, and a
// failed batch is a fenec.BatchError. Faults of arguments are found before anything
// is sent.
//
// # What is different
//
// Answers come as JSON, which knows fewer types than the database. Scan, ScanStruct,
// Collect and the methods of Row and Doc make up for it: they store texts as
// time.Time, and lists as []byte and []float32, where that is wanted. But Row.Value,
// and Scan into an any, give what JSON says: a text for a timestamp, a list for bytes
// and vectors, an int64 for a float without a fraction. Infinities are null.
// Arguments go the same way: a time arrives as text, bytes and vectors as lists,
// which become what the field or the search that takes them wants. An operator is
// given them as they arrive: a list equals no bytes.
//
// Result.Seq of a read is 0, unless it was part of a batch, and an answer without rows
// has no Columns. Subscriptions have the values of their condition written into
// it, and take no bytes. There is no View, no Update and no Load: a Batch of reads
// sees one sequence, and a Batch with writes is one block.
package client
