package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

func TestDecodeOperation(t *testing.T) {
	for name, c := range map[string]struct {
		op   string
		want table.Operation
	}{
		"put":    {"\x01\x07\x80\x01\x03row", table.Operation{Op: history.Put, ID: 128, Row: []byte("row")}},
		"del":    {"\x02\x07\x09", table.Operation{Op: history.Del, ID: 9}},
		"create": {"\x03\x03def", table.Operation{Op: history.Create}},
		"drop":   {"\x04\x07", table.Operation{Op: history.Drop}},
		"alter":  {"\x05\x03def", table.Operation{Op: history.Alter}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := table.DecodeOperation([]byte(c.op))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			for n := range c.op {
				_, err := table.DecodeOperation([]byte(c.op[:n]))
				require.ErrorIs(t, err, table.ErrCorrupt)
			}
			_, err = table.DecodeOperation([]byte(c.op + "x"))
			require.ErrorIs(t, err, table.ErrCorrupt)
		})
	}
	_, err := table.DecodeOperation([]byte{9})
	require.ErrorIs(t, err, table.ErrCorrupt)
}

func FuzzDecodeOperation(f *testing.F) {
	f.Add([]byte("\x01\x07\x01\x03row"))
	f.Add([]byte("\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, op []byte) {
		if _, err := table.DecodeOperation(op); err != nil {
			require.ErrorIs(t, err, table.ErrCorrupt)
		}
	})
}
