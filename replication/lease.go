package replication

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"time"
)

// Grant is a router's word to a node that it may write the tenants of a list
// until a term is over. Its JSON is what goes over the wire.
type Grant struct {
	MS int64 `json:"ms"` // length of the term, in milliseconds
	// Epoch names the list, and is opaque to the node.
	Epoch string `json:"epoch"`
	// Nonce is out of the node's last answer, and the term begins when the node
	// gave it. A node takes each nonce once, so a grant that was delayed or doubled
	// on its way gives nothing. Without a nonce the term begins when the node gets
	// the grant, however late that is.
	Nonce string `json:"nonce,omitempty"`
	// Primaries is the list; nil for the one that the node has.
	Primaries []string `json:"primaries,omitzero"`
	// History and Forks are of the directory that the list is out of, and come with
	// the list. A node takes no list of a directory that has forked less often than
	// one it has had a list of.
	History ID  `json:"history,omitzero"`
	Forks   int `json:"forks,omitzero"`
}

// unknownNonce is what a grant names that is made to learn the node's nonce. No
// node gives it.
const unknownNonce = "0"

// ParseGrant reads a grant's JSON. Its errors are ErrCorrupt.
func ParseGrant(text []byte) (Grant, error) {
	var g Grant
	if err := json.Unmarshal(text, &g); err != nil {
		return Grant{}, fmt.Errorf("grant: %v: %w", err, ErrCorrupt)
	}
	return g, g.check()
}

func (g Grant) check() error {
	switch {
	case g.MS <= 0 || g.MS > math.MaxInt64/int64(time.Millisecond):
		return fmt.Errorf("grant of %d ms: %w", g.MS, ErrCorrupt)
	case g.Epoch == "":
		return fmt.Errorf("grant without an epoch: %w", ErrCorrupt)
	}
	return nil
}

// State is a node's lease as it tells it, and its answer to a grant.
type State struct {
	Epoch     *string `json:"epoch"`     // nil before the first grant
	Primaries int     `json:"primaries"` // tenants in the list
	LeftMS    *int64  `json:"left_ms"`   // 0 once lapsed; nil before the first grant
	Nonce     string  `json:"nonce,omitempty"`
}

// Instant is a moment as two clocks tell it. For as long as a lease runs, one of
// them must go on steadily: the first does where it counts the time that the
// machine is suspended, which a plain monotonic clock does not; where it is one
// of those, the second must not be set.
type Instant struct {
	Boot time.Duration // since any fixed moment; CLOCK_BOOTTIME on Linux
	Wall time.Duration // since any fixed moment, by the wall clock
}

// since returns the longer of the times that the clocks say have passed.
func (i Instant) since(earlier Instant) time.Duration {
	return max(i.Boot-earlier.Boot, i.Wall-earlier.Wall)
}

// epochOf names a sorted list: FNV-1a over its names, each ended by a line feed,
// and, where the directory has forked, over its history and forks in the same
// way. So a list out of one directory is never renewed out of another.
func epochOf(tenants []string, directory Lineage) string {
	h := fnv.New64a()
	for _, t := range tenants {
		_, _ = h.Write([]byte(t))
		_, _ = h.Write([]byte{'\n'})
	}
	if len(directory) > 0 {
		fmt.Fprintf(h, "%s\n%d\n", directory.Current(), len(directory))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
