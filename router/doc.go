// Package router knows which node holds which tenant, and forwards each tenant's
// requests to its node.
//
// # What a caller meets
//
// A [Router] is the whole thing: it forwards what lies under /t/<tenant>/, or what a
// resolver such as [Hosts] finds to be a tenant's, serves the directory under /_shard/
// and answers /_health, /_ready and /_metrics. It is an http.Handler, so a gateway
// mounts it on any server; [Router.Serve] is a server of its own, which adds a good
// deal less to a request than net/http would. [Router.ServeTLS] is the same with TLS,
// and leaves HTTP/2 to net/http. Its parts can be used
// by themselves: a [Directory] is the durable map of nodes and tenants, a
// [Forwarder] passes a request on to a [Node].
//
//	dir, err := router.OpenDirectory("shard.fenec")
//	…
//	rt, err := router.New(router.Options{Directory: dir, Token: router.NewToken(secret)})
//	…
//	err = rt.Serve(listener)   // or http.Serve(listener, rt)
//
// # What is guaranteed
//
// A change of the directory is on disk before a look-up sees it, and before it is
// answered. Look-ups read memory only and never wait for a change that is being
// written. A tenant is in the directory only after its node has made it, and out
// of it only after its node has deleted it; one operation on a tenant runs at a
// time, and a second one is refused.
//
// A request reaches the node with its target and its header lines byte for byte
// and in order, but for those that concern one connection only and those that
// the router writes itself: Host, Content-Length, Connection, X-Request-Id and
// Fenec-Router. A request is sent again only where it certainly did not run, or
// where running twice does no harm; see [Forwarder]. An answer that breaks off is
// never passed on as if it were whole. Tokens of nodes leave the router towards
// those nodes only, and print as "[redacted]".
//
// While a tenant is frozen for a move, what certainly writes waits unsent. Statements
// of /query and /batch are sent, as only the node can tell what they do, and so go on
// if they read. One that the node has refused unrun, and any request that reaches it
// when the tenant has just gone, waits for the flip and is sent again. None waits for
// longer than [Options.Hold].
//
// A tenant may have copies on other nodes, which follow the node that it is on: one on the
// standby of that node, or replicas of its own, see [Options.Replicas]. The directory says
// of a copy that it follows only after its node has said so, and that it is to follow
// before its node is asked; so nobody counts on a copy that may not be there, and none is
// forgotten. [Router.FailOver] has the copies of a lost node's tenants take over.
//
// # What is not
//
// A change whose fsync failed is refused and not seen, but may be found in the
// file when it is opened again. A node that did not answer a create in time may
// have made the tenant all the same; the router leaves its file alone. A request
// body is held in memory while it is forwarded, up to [Options.MaxBody]; an
// answer up to 1 MiB is, too, and a larger one streams.
//
// # A second router
//
// A router may follow another, its primary: the file of its directory then is a copy of
// the primary's, kept so by what comes from there under /_replication. It forwards by that
// copy, whether the primary is there or not, and changes nothing, neither the directory nor
// a node. [Router.Promote] has it take the place of the primary.
//
//	dir, err := router.OpenDirectoryWith("second.fenec", router.DirectoryOptions{Follow: "http://10.0.0.1:8090"})
//	…
//	rt, err := router.New(router.Options{Directory: dir, ReplicationToken: token})
//
// A change that the primary has answered is on the disk of the primary, and has been sent
// to each router that follows and keeps up. The two do not agree on which of them is the
// primary: the other is to be stopped before one is promoted. Under leases the nodes obey
// the one that was promoted last, and the other stops when one of them tells it.
//
// # Latency
//
// With one busy client, most of what a hop costs is waking threads up. So the
// few clients that ask without a pause are put on an express lane: their
// connection, and the one to the node they ask, are read by system calls that
// block a thread of their own, and for a few microseconds by looking again and
// again, as long as the machine has nothing else to do. Everybody else is served
// by Go's poller, one goroutine per connection, which does better with many.
// This is done on Linux; elsewhere nobody is on the lane.
package router
