package table_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// One scan walks over many ranges as one made for each does, and the entries of
// an index are as many as are counted.
func TestManyRanges(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error {
		err := x.create(people)
		for id := uint64(1); id <= 300; id += 2 {
			err = errors.Join(err, x.put("people", id, value.Text(fmt.Sprint("p", id)), value.Int(int64(id%11)), value.Value{}))
		}
		return err
	})
	ix := d.cat.Find("people").Fields[1].Index
	r := rand.New(rand.NewPCG(1, 2))
	d.read(t, "people", func(reader *table.Reader) {
		for _, reverse := range []bool{false, true} {
			rows, entries := reader.Scan(0, 0, reverse), reader.Index(ix, nil, nil, reverse)
			for range 100 {
				first := r.Uint64N(310)
				last := first + r.Uint64N(40)
				if r.IntN(20) == 0 {
					last = ^uint64(0)
				}
				rows.Reset(first, last)
				require.Equal(t, ids(t, reader.Scan(first, last, reverse)), ids(t, rows), "%d to %d", first, last)

				from := key.Append(nil, value.Int(r.Int64N(11)))
				to := key.Next(key.Append(nil, value.Int(r.Int64N(11))))
				entries.Reset(from, to)
				want := ids(t, reader.Index(ix, from, to, reverse))
				require.Equal(t, want, ids(t, entries))
				n, err := reader.CountIndex(ix, from, to)
				require.NoError(t, err)
				require.EqualValues(t, len(want), n)
			}
		}
	})
}

// ids returns those a scan walks over.
func ids(t *testing.T, s interface {
	Next() bool
	ID() uint64
	Err() error
}) (list []uint64) {
	t.Helper()
	for s.Next() {
		list = append(list, s.ID())
	}
	require.NoError(t, s.Err())
	return list
}
