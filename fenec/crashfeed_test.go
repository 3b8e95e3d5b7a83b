package fenec_test

import (
	"fmt"

	"github.com/fenec-go/fenecdb/fenec"
)

// crashFeed is how much of a feed the databases keep whose processes are killed.
const crashFeed = 64 << 20

// readFeed returns the feed, as a consumer reads it, with the documents rendered.
func readFeed(db *fenec.DB) (list []fenec.FeedChange, err error) {
	for since := db.FeedHorizon(); since < db.SyncedSeq(); {
		page, next, err := db.Feed(ctx, since, 1000)
		if err != nil {
			return list, err
		}
		for i := range page {
			if _, err := page[i].AppendJSON(nil); err != nil {
				return list, err
			}
		}
		list, since = append(list, page...), next
	}
	return list, nil
}

// checkFeed checks that the feed has what the history has, each write once and in
// order, and that the last that it has of a document is what is there.
func checkFeed(db *fenec.DB) error {
	if err := db.Sync(ctx); err != nil { // of what opening it has written
		return err
	}
	fed, err := readFeed(db)
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	noted, _, err := db.Changes(ctx, max(db.Horizon(), db.FeedHorizon()), 1<<30)
	if err != nil {
		return err
	}
	more := len(fed) - len(noted)
	if more < 0 {
		return fmt.Errorf("feed: %d writes from %d, the history has %d", len(fed), db.FeedHorizon(), len(noted))
	}
	fed = fed[more:]
	last := map[uint64]*fenec.Doc{}
	for i := range fed {
		if fed[i].Change != noted[i] {
			return fmt.Errorf("feed: %v, the history has %v", fed[i].Change, noted[i])
		}
		if fed[i].Collection == "accounts" && fed[i].ID != 0 {
			last[fed[i].ID] = fed[i].Doc
		}
	}
	for id, doc := range last {
		res, err := db.Query(ctx, `get accounts select money where id = $1`, id)
		if err != nil {
			return err
		}
		money, err := doc.Int("money")
		if err != nil {
			return err
		}
		var there int64
		if res.Next(); res.Scan(&there) != nil || money != there {
			return fmt.Errorf("feed: %d in account %d, there are %d", money, id, there)
		}
	}
	return nil
}
