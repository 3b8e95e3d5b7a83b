package value_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func TestCoercePoint(t *testing.T) {
	zero := math.Copysign(0, -1)
	tests := []struct {
		v    value.Value
		want value.Value
	}{
		{parse(t, `[28.9784,41.0082]`), value.Point(28.9784, 41.0082)},
		{parse(t, `[180,-90]`), value.Point(180, -90)},
		{parse(t, `[-180,90]`), value.Point(-180, 90)},
		{value.List([]value.Value{value.Float(zero), value.Float(zero)}), value.Point(0, 0)},
		{value.Vector([]float32{0.1, -0.2}), value.Point(0.1, -0.2)},
		{value.Null, value.Null},
	}
	for _, test := range tests {
		got, err := value.Coerce(test.v, value.TypeGeo)
		require.NoError(t, err, test.v)
		requireSame(t, test.want, got)
	}
	require.Equal(t, "[28.9784,41.0082]", value.Point(28.9784, 41.0082).String())
}

func TestCoercePointRefuses(t *testing.T) {
	for _, v := range []value.Value{
		parse(t, `[181,0]`), parse(t, `[0,90.00001]`), parse(t, `[-180.5,0]`), parse(t, `[0,-91]`),
		parse(t, `[1,2,3]`), parse(t, `[1]`), parse(t, `[]`), parse(t, `[1,null]`), parse(t, `["1",2]`), parse(t, `[[1,2]]`),
		parse(t, `{"lon":1,"lat":2}`), value.Text("[1,2]"), value.Int(1), value.Vector([]float32{1, 2, 3}),
		value.Vector([]float32{1, float32(math.Inf(1))}),
		value.List([]value.Value{value.Float(math.NaN()), value.Int(1)}),
		value.List([]value.Value{value.Timestamp(1), value.Int(1)}),
	} {
		_, err := value.Coerce(v, value.TypeGeo)
		requireFault(t, fault.Type, err, v)
	}
	_, err := value.Coerce(parse(t, `[[1,2],[200,1]]`), value.ListType(value.TypeGeo))
	requireFault(t, fault.Type, err)
	require.ErrorContains(t, err, "got [int 200,int 1]")
}
