package quota

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// Holding is what a database holds of what ceilings count, or a change of it.
type Holding struct {
	Bytes int64 `json:"bytes"` // live bytes
	Rows  int64 `json:"rows"`  // documents, but those of collections whose name begins with _
}

// HeldBy returns what db holds at the moment.
func HeldBy(db *fenec.DB) (Holding, error) {
	st, err := db.Stats()
	if err != nil {
		return Holding{}, err
	}
	h := Holding{Bytes: st.LiveBytes}
	for _, c := range st.Collections {
		if !strings.HasPrefix(c.Name, "_") {
			h.Rows += c.Rows
		}
	}
	return h, nil
}

func (h *Holding) add(d Holding) {
	h.Bytes += d.Bytes
	h.Rows += d.Rows
}

func (h Holding) negative() Holding { return Holding{-h.Bytes, -h.Rows} }
