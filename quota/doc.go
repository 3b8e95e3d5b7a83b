// Package quota bounds what a tenant may hold and do, and counts what it uses.
//
// [Limits] are seven numbers, of which any may be left out. A [Quota] holds one
// open database to them:
//
//	limits, err := quota.Load("data/acme.quota")
//	…
//	var q *quota.Quota // nil: no limits
//	if limits != (quota.Limits{}) {
//		q = quota.New(db, limits, nil)
//	}
//
//	if err := q.Enter(); err != nil { // for every request
//		return err
//	}
//	defer q.Leave()
//	if err := q.MayWrite(); err != nil { // if it writes
//		return err
//	}
//	_, err = db.Exec(ctx, text)
//
// What is refused is refused with a [*Refusal]: the limit's name, its number, and
// how long to wait. The package knows nothing of HTTP.
//
// # Limits
//
// The ceilings, Bytes and Rows, are asked about each block of writes as it is about
// to land, under the database's write lock, and are exact: writers that race for
// the last byte neither pass a ceiling nor leave room unused. A refused block
// leaves nothing. A block is refused only if it needs room: deletes, overwrites
// that are no longer than before, expiry and compaction go on at a full ceiling and
// beyond one, and what they give back can be used at once.
//
// The rates are token buckets with debt. Each holds one second's worth. A write may
// run while there is a row and any byte in them, and is charged as it lands, however
// much it is: one that is too large passes once, and the next waits for the debt. A
// write that fails is not charged.
//
// # Keeping them
//
// [Save] and [Load] keep limits in a file beside the database's. A crash leaves the
// old limits or the new ones.
//
// # Usage
//
// A [Meter] counts what tenants use, whether they have limits or not. Each has an
// [Account], whose counters are atomics; [Meter.Flush] adds them, once a minute, to
// totals of minutes and of days in a database of the caller's. [Meter.Report] tells
// what all tenants have used since a moment, also those that are closed or gone.
package quota
