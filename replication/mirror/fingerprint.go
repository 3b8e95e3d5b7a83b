package mirror

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/fenec-go/fenecdb/fenec"
)

// fingerprint tells the write of that number from others that may have been given it: a
// database that was put back to a file of an older day gives out numbers again, in the
// same history. It is "" where neither the changes nor the feed have the write, or do not
// show it.
func fingerprint(ctx context.Context, db *fenec.DB, seq uint64) string {
	if seq == 0 {
		return ""
	}
	var c fenec.Change
	if list, _, err := db.Changes(ctx, seq-1, 1); err == nil && len(list) > 0 {
		c = list[0]
	} else if list, _, err := db.Feed(ctx, seq-1, 1); err == nil && len(list) > 0 {
		c = list[0].Change
	}
	if c.Seq != seq {
		return ""
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %v %d", c.Time.UnixMilli(), c.Op, c.ID)
	return fmt.Sprintf("%016x", h.Sum64())
}
