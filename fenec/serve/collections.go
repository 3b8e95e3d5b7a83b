package serve

import (
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rest"
)

// collections keeps what translating needs to know of definitions that come
// again. A definition never changes; another one takes its place.
type collections struct {
	mu   sync.RWMutex // guards kept
	kept map[*catalog.Collection]*rest.Collection
}

// mostCollections is how many are kept, before all are forgotten.
const mostCollections = 4096

func (k *collections) of(def *catalog.Collection) *rest.Collection {
	k.mu.RLock()
	c := k.kept[def]
	k.mu.RUnlock()
	if c != nil {
		return c
	}
	c = rest.NewCollection(def)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil || len(k.kept) >= mostCollections {
		k.kept = map[*catalog.Collection]*rest.Collection{}
	}
	k.kept[def] = c
	return c
}

// collection returns a collection as the request may see it, or nil.
func (c *call) collection(name string) *rest.Collection {
	def := inside.Collection(c.view, name)
	if def == nil {
		return nil
	}
	return c.server.collections.of(def)
}

// expiry returns the field of a collection by which its documents expire, and
// when after it they do; "" if they do not.
func (c *call) expiry(name string) (field string, period time.Duration) {
	def := inside.Collection(c.view, name)
	if def == nil || def.TTL() == nil {
		return "", 0
	}
	x := def.TTL()
	return def.PathName(x), x.Period
}
