package table_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// pagesDB has so many rows that they are gathered in several batches.
func pagesDB(t *testing.T) *db {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(page) })
	d.must(t, func(x *tx) error {
		for id := range 5000 {
			body := fmt.Sprintf("oak w%d w%d", id%7, id%900)
			if id%53 == 0 {
				body = ""
			}
			if err := x.put("page", uint64(3*id+1), pageOf(body)...); err != nil {
				return err
			}
		}
		return nil
	})
	return d
}

// What is gathered, at once or in stretches, is what blocks have written.
func TestGatherPostings(t *testing.T) {
	d := pagesDB(t)
	for _, x := range []*catalog.Index{d.cat.Find("page").Fields[0].Index, d.cat.Find("page").Fields[1].Index} {
		for _, most := range []int64{1, 3000, 1e9} {
			got, stretches := map[string][]posting.Posting{}, 0
			d.read(t, "page", func(r *table.Reader) {
				for next := uint64(1); next != 0; stretches++ {
					p, after, err := r.GatherPostings(ctx, x, next, most)
					require.NoError(t, err)
					before := ""
					p.Each(func(prefix []byte, list []posting.Posting) {
						require.Less(t, before, string(prefix))
						before = string(prefix)
						got[before] = append(got[before], list...)
					})
					next = after
				}
			})
			require.True(t, most < 1e9 || stretches == 1)
			for prefix, list := range got {
				require.Equal(t, d.postings(t, x, []byte(prefix)), list)
			}
			if x.Kind == catalog.Text {
				require.Equal(t, 1+1+900, len(got), "the empty term, oak, and the words")
			} else {
				require.Equal(t, 1, len(got))
			}
		}
	}
}

func TestGatherPostingsEnds(t *testing.T) {
	d := pagesDB(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	d.read(t, "page", func(r *table.Reader) {
		_, _, err := r.GatherPostings(ended, d.cat.Find("page").Fields[0].Index, 1, 1e9)
		require.ErrorIs(t, err, context.Canceled)
	})
}
