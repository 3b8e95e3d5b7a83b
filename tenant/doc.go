// Package tenant keeps a directory of databases, one file a tenant, and opens
// each on its first use.
//
//	m, err := tenant.Open("data", tenant.Options{})
//	…
//	h, err := m.Acquire(ctx, "acme")
//	if err != nil {
//		return err
//	}
//	defer h.Release()
//	res, err := h.Query(ctx, "get orders limit 10")
//
// # What a caller meets
//
// A [Manager] owns the directory. [Manager.Acquire] returns a [Handle], the right to
// use one tenant's database; NewContext and FromContext carry it through a request.
// A [Resolver] tells from a request's host, path or header which tenant it is for.
// Work that comes later keeps an [ID] and gets a handle when it runs: [Manager.Do],
// and [Manager.Each] for all tenants. An application without tenants has [Single].
//
// # Guarantees
//
//   - A tenant exists if its file does. Create, Provision, Import, Undelete and
//     Rename bring it into being, Delete and Rename take it away, each wholly or,
//     after a crash, not at all. A misspelt name is ErrNotFound and never an empty
//     database.
//   - A handle reaches the database it was made for, until it is released and not
//     after that. Nobody but a Manager can make one.
//   - A database is open at most once. One that is held or frozen is never closed, nor
//     one that streams, unless its disk has refused a write and it is to be opened again.
//     Others are when they have been idle, or, least recently used first, when databases
//     or memory are at their bounds.
//   - A slow open or close of one tenant holds up that tenant alone.
//   - One process at a time owns a directory.
//
// # Limits
//
// A freeze is kept in memory: it is over when the process is, which the instance id
// that it returns lets the caller notice. An ID names a tenant, not one life of it:
// after a delete, whoever is created under the name answers to it.
//
// # Files
//
//	<tenant>.fenec      the database; its logs and side files begin with this name
//	<tenant>.quota      and other files that are kept beside it, see WriteBeside
//	.node.fenec         what the manager keeps for itself: statuses
//	.trash/<tenant>.<milliseconds since 1970>/   a deleted tenant with all its files, and
//	                    <tenant>.status if it was not active
//	.trash/….partial/   the same, on its way there or back
//
// A delete renames the database first, an undelete renames it last: where that file
// is, is where the tenant is. Open takes what lies beside to the same place.
package tenant
