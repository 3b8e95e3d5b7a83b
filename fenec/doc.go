// Package fenec is an embedded document database: one file a database, the
// query language FenecQL, full-text and vector search, snapshots, atomic batches,
// crash safety.
//
//	db, err := fenec.Open("books.fenec", fenec.Options{})
//	…
//	defer db.Close()
//	_, err = db.Exec(ctx, `create collection books (title text @hash, pages int @sorted)`)
//	_, err = db.Exec(ctx, `put books {title: $1, pages: $2}`, "Dune", 612)
//	res, err := db.Query(ctx, `get books where pages > $1 order pages limit 10`, 300)
//	for row := range res.All() {
//		title, err := row.Text("title")
//		…
//	}
//
// # What a caller meets
//
// A [DB] is an open database. [DB.Query] runs one statement and returns a
// [Result]; [DB.Exec] runs one and returns how many documents it wrote;
// [DB.Batch] runs several as one block, and [DB.Update] those that a function
// decides on; [DB.Load] runs one for many rows of arguments. [DB.Rows] gives the
// rows of a get one by one, however many there are. [DB.Prepare] compiles a
// statement once. [DB.View] reads several times at one sequence. [DB.Subscribe]
// follows what a condition picks, [DB.Changes] tells what was written since a
// sequence, [DB.Changed] whether something was, and [DB.WaitChange] waits for it. Documents have an id, given by the
// database or by the caller, and the fields their collection declares.
//
// A [Session] is a database as a [Policy] shows it: each user reads and writes the
// rows that are theirs, in the same statements. [DB.SetHook] sees every row before
// it is written. [Options.Functions] are functions of the program that statements
// may call. Rows of a collection with @ttl are gone when their time is past, and
// [DB.Sweep], or a timer, makes room.
//
// # Search
//
// Fields with @text are ranked by their words (BM25), fields with @hnsw by how near
// their vectors are, and both together by reciprocal ranks:
//
//	_, err = db.Exec(ctx, `create collection pages (body text @text, v vector<384> @hnsw(cosine))`)
//	res, err = db.Query(ctx, `get pages match body $1 limit 10`, "red fox")
//	res, err = db.Query(ctx, `get pages near v $1 where id > 7 limit 10`, vector) // a []float32
//	res, err = db.Query(ctx, `get pages match body $1 near v $2 fuse limit 10`, "red fox", vector)
//
// The last column of such a Result, _score, holds the scores. A search sees what
// was written before it. Only near on a vector is approximate, and only in that it
// may miss a row that "near … exact" finds: its page is full if enough rows pass
// the filter, and its scores are those of the stored vectors. The same rows have the
// same scores on every platform.
//
// The graph of an @hnsw is loaded by the first search that needs it, or by [DB.Warm],
// and held in memory until the database is closed. Vectors that change are linked into it in
// the background, and measured one by one until then.
//
// # Guarantees
//
//   - A statement, and a batch, happens whole or not at all, also through a crash.
//   - A write that was answered under [SyncAlways] is on disk; under a period,
//     what was answered longer ago than that is.
//   - A read sees one sequence: everything up to it and nothing after. Readers
//     never wait for writers, nor writers for readers.
//   - After the disk refused something, writes fail with [ErrFailed] until the
//     database is opened again; reads go on.
//   - Damage is reported as [ErrCorrupt], naming file and place, and never ends
//     the process.
//   - Opening costs the same for a small file and a large one.
//
// # Limits
//
// There is one writer at a time; others wait their turn. One process at a time
// has the file. A block's changes are held in memory ([Options.BlockBytes]), and
// so are a query's answers: use limit, or [DB.Rows]. What the database holds in
// memory can be bounded ([Options.MaxMemory]).
//
// A context ends whatever is given it: statements that wait or take long return its
// error soon after, and nothing of them is written. Only a write that is waiting
// for the disk has happened.
//
// Arguments may be nil, bool, any integer or float, string, []byte, time.Time,
// json.RawMessage and json.Number, slices and maps with string keys of all these,
// structs, types named after them, and pointers to them, of which nil is null. $1
// is the first; arguments that no parameter names are ignored. Errors carry kinds:
// match them with errors.Is against ErrQuery, ErrType and so on.
//
// # Structs
//
// A struct is a document: "put books $1" takes one, a slice of them, or of
// pointers to them. Its exported fields are written under the name in their tag
// `fenec:"name"`, or else under their own in lower case; the tag "-" leaves a
// field out, "name,omitempty" its zero value. A field ID of whole numbers without a
// tag is as one tagged "id,omitempty": while it is zero, the database gives the id.
// Fields of embedded structs count as its own. [Collect] and [Row.ScanStruct] read
// what was written so.
package fenec
