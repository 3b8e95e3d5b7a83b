package replication

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiffering(t *testing.T) {
	list := func(names ...string) (d Digest) {
		for i := 0; i < len(names); i++ {
			d.Collections = append(d.Collections, CollectionDigest{Name: names[i][:1], Sum: uint64(len(names[i]))})
		}
		return d
	}
	for name, c := range map[string]struct {
		a, b Digest
		want []string
	}{
		"nothing known":     {list(), list(), nil},
		"one side knows":    {list("a"), list(), nil},
		"the same":          {list("a", "b"), list("a", "b"), nil},
		"another sum":       {list("a", "b", "c"), list("a", "bb", "c"), []string{"b"}},
		"more on one side":  {list("a", "b"), list("b"), []string{"a"}},
		"more on the other": {list("b"), list("b", "c", "d"), []string{"c", "d"}},
		"nothing in common": {list("a", "c"), list("b", "d"), []string{"a", "b", "c", "d"}},
	} {
		require.Equal(t, c.want, c.a.Differing(c.b), name)
	}
}

func TestDigestNames(t *testing.T) {
	var some, many []CollectionDigest
	for i := range 5000 {
		c := CollectionDigest{Name: fmt.Sprintf("c%04d", i)}
		if many = append(many, c); i < 1000 {
			some = append(some, c)
		}
	}
	var d Digest
	d.Name(many)
	require.Empty(t, d.Collections, "they are too many")
	d.Name(some)
	require.Equal(t, some, d.Collections)
}
