package tenant

import (
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// watch is who is told what is done through a handle.
type watch struct {
	raw.Watcher
	since time.Time // the handle's pauses began; guarded by its mu
}

// did tells who watches what results there are.
func (h *handle) did(list ...*fenec.Result) {
	if h.watch == nil {
		return
	}
	for _, res := range list {
		rows := res.Affected()
		if res.Kind() == fenec.KindRows {
			rows = res.Len()
		}
		if res.Wrote() {
			h.watch.Wrote(rows)
		} else {
			h.watch.Read(rows)
		}
	}
}

// wrote tells who watches how many rows were written.
func (h *handle) wrote(rows int) {
	if h.watch != nil && rows > 0 {
		h.watch.Wrote(rows)
	}
}

// read tells who watches how many rows were read.
func (h *handle) read(rows int) {
	if h.watch != nil && rows > 0 {
		h.watch.Read(rows)
	}
}
