// Package mirror keeps copies of a database on other machines, over HTTP: it is the part
// of replication that has sockets, clocks and goroutines. What is decided, is decided by
// package replication.
//
// # Primary
//
// A [Source] serves one open database to those who follow it. It is made when the
// database is opened, hung into fenec.DB.SetConfirm, and closed before the database is.
// Whoever mounts it checks the token; below "_replication" it answers
//
//	GET  ?since=…&history=…  the stream; image=1 asks for an image, digest=… for digests
//	GET  /status             how replication stands
//	POST /promote            makes a replica a primary; force=1, though it is incomplete
//	POST /held               what a replica holds on disk
//
// A stream begins with a hello, and with an image if the replica cannot go on from where
// it stands; then come the writes, as they are on the primary's disk. When there are
// none, the stream says every two seconds that it is there, and sends a digest of what
// the database holds. A replica that takes longer than ten seconds to read is dropped.
//
// Beyond what package replication has, a replica tells in last=… which write has the
// number it stands at, and in the header Fenec-Replica which copy it is. A primary tells
// in Fenec-Numbers up to where it may have given out numbers, and in Fenec-Held under which
// number it wants reports.
//
// # Replica
//
// A [Replica] makes a [Copy] follow a primary, until it is stopped: it connects, takes
// what comes, and connects again, 100 ms after the primary ended the stream and up to 5 s
// after failures. A copy that does not fit (a write that does not follow, a digest that
// differs) takes an image. [Single] is a Copy of one file.
//
// # Bell
//
// Where one node has copies of many databases of another, most of which rest, a stream
// for each is too many. A [Bell] tells on one stream which of them were written to, and an
// [Ear] hears it.
//
// # Guarantees
//
//   - A replica never holds what is not on its primary's disk, nor a part of a block.
//   - A write that is answered under fenec.SyncAlways is in the socket of every replica
//     that keeps up: it survives the end of the process, and not that of the machine. With
//     SourceOptions.Held or [WithHeld] it is on the disks of as many replicas, or its
//     error says that it is not.
//   - A lineage is on the replica's disk before any write that belongs to it.
//   - A copy that has writes which its primary lacks gives them up for an image; both
//     sides log it. That is what becomes of an old primary's last writes after a
//     promotion, and of a replica's whose primary was put back to an older state.
//
// # Limits
//
// A replica that is stuck delays writes by a second, once. While a replica connects, and
// until it has caught up, no write waits for it. Two databases that follow each other both
// wait forever. Tokens and data go in clear text: replicate in a network of your own.
package mirror
