package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// slot is a value that is given beside the row.
type slot int

func (s slot) eval(f *Frame) (value.Value, error) { return f.Slots[s], nil }

// slotPath is what lies under keys in a slot.
type slotPath struct {
	slot
	keys []string
}

func (s slotPath) eval(f *Frame) (value.Value, error) { return f.Slots[s.slot].Path(s.keys...), nil }

// outer is a value that is given for a whole run.
type outer int

func (o outer) eval(f *Frame) (value.Value, error) {
	if int(o) >= len(f.Outer) {
		return value.Null, fault.New(fault.Query, "a condition that is imposed lacks its parameter $%d", int(o))
	}
	return f.Outer[o], nil
}

func newSlot(s *Slot) node {
	switch {
	case s == nil:
		return nil
	case s.Outer:
		return outer(s.At)
	case len(s.Keys) > 0:
		return slotPath{slot(s.At), s.Keys}
	}
	return slot(s.At)
}

func (s *Slot) class() class {
	if s != nil && s.Outer {
		return perRun
	}
	return perRow
}
