package posting

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSingle(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		p    Posting
	}{
		{Text, Posting{ID: 1, TF: 1, Length: 1}},
		{Text, Posting{ID: MaxID, TF: 300, Length: math.MaxUint32}},
		{Weights, Posting{ID: 7, Weight: -0.25}},
		{Weights, Posting{ID: 7, Weight: math.MaxFloat32}},
	} {
		key := AppendID([]byte("oak\x00"), c.p.ID)
		prefix, p, err := Single(c.kind, key, c.p.AppendValue(nil, c.kind))
		require.NoError(t, err)
		require.Equal(t, "oak\x00", string(prefix))
		require.Equal(t, c.p, p)
	}
}

func TestSingleDamaged(t *testing.T) {
	key := AppendID([]byte("oak\x00"), 1)
	for name, c := range map[string]struct {
		kind       Kind
		key, value []byte
	}{
		"no prefix":          {Text, key[4:], []byte{1, 1}},
		"an id too high":     {Text, AppendID([]byte("oak\x00"), MaxID+1), []byte{1, 1}},
		"no value":           {Text, key, nil},
		"no length":          {Text, key, []byte{1}},
		"more":               {Text, key, []byte{1, 1, 1}},
		"no occurrence":      {Text, key, []byte{0, 1}},
		"a length too low":   {Text, key, []byte{2, 1}},
		"three bytes":        {Weights, key, []byte{1, 2, 3}},
		"a weight of 0":      {Weights, key, []byte{0, 0, 0, 0}},
		"an infinite weight": {Weights, key, []byte{0, 0, 0x80, 0x7f}},
	} {
		_, _, err := Single(c.kind, c.key, c.value)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}
