// Package replication decides what may be written where: which writes a replica may
// go on with, and which node may write a tenant. It is input in and messages out:
// it has no clock, socket or goroutine, and knows nothing of HTTP. Its types are not
// safe for concurrent use.
//
// # Streams
//
// A primary sends its writes to a replica as a sequence of messages, which an
// [Encoder] writes and a [Decoder] reads: a [Hello], an [Image] where the replica
// cannot go on from where it is, then [Writes], with an [Alive] when there are none,
// and an [End]. The records of writes are opaque. Both sides hold a stream to its
// order and its limits, and the decoder to no more memory than has arrived;
// a message that fails is ErrCorrupt.
//
// # Histories
//
// A [Lineage] lists the histories that a database's writes belong to. A promotion
// forks it. [Lineage.Continued] is the one judgement of whether a replica's writes
// are a prefix of a primary's. It is never wrong in saying so, as long as only
// databases that are not [History.Following] make writes of their own; it may send
// an image to a replica that could have done without, when the primary does not
// know its history.
//
// # Leases
//
// A node writes a tenant only under a lease (Gray and Cheriton 1989), which a
// router renews. [Fence] is the node's side and [Leases] the router's. The router
// calls [Leases.Round] every [Leases.Interval], a third of the term, and does the
// actions it gets:
//
//	[Send]      POST the grant, hand the answer to Leases.Answered
//	[FailOver]  promote the tenants elsewhere, record it in the directory,
//	            call Leases.Place for it and, at the end, Leases.FailedOver
//	[Repair]    make a returned node's stale copies follow
//
// Guaranteed is that no two nodes may write one tenant at one moment, whatever is
// lost, delayed, doubled, cut off or restarted, if
//
//   - the directory places each tenant on one node, and Place follows it;
//   - a tenant's place changes after the FailOver that names it, and in the sequence
//     above, or else while no node can write it at all;
//   - of a node's two clocks one goes on steadily through each lease, and no clock of
//     a node and the router's differ in speed by a tenth or more;
//   - one router runs at a time. Of two that do, nodes take the lists of the one whose
//     directory has forked more often, and the other stops when it hears so; nodes
//     that only the other reaches it keeps on granting to. So stop a router before
//     its standby is promoted.
//
// A node that is cut off stops within a term, and its tenants are failed over 1.1
// terms after its last answer and up to a round later. A grant counts from when the
// node gave the nonce in it, not from when it arrives: the answer that brought the
// nonce is the last the router needs to have seen to know when the node stops. So
// the router makes two grants a round, one to learn a nonce, the other to use it.
//
// Not guaranteed is that a node which is being failed over has sent its last writes
// to its replica: that is for the one who streams. A write that was admitted before
// its lease lapsed may land after, unless [Fence.Admits] is asked as it lands. A
// grant without a nonce counts from when it arrives: whoever sends one must see to
// it that it cannot be late. A fence forgets everything with its process, the count
// of forks included.
package replication
