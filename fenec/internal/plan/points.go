package plan

const (
	// nearID is how far the next id may be for it to be found by stepping through
	// the rows up to it.
	nearID = 3

	// longStretch is how many ids near each other make up for beginning a scan.
	longStretch = 8
)

// points produces the rows with the given ids, which ascend, of those that are
// there; from the last to the first if reverse.
func (r *run) points(list []uint64, reverse bool, to sink) error {
	if reverse {
		for i := len(list) - 1; i >= 0; i-- {
			if err := r.point(list[i], to); err != nil {
				return err
			}
		}
		return nil
	}
	for len(list) > 0 {
		n := stretch(list)
		if err := r.stretch(list[:n], to); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// stretch returns how many ids come before the first that is not near the one
// before it.
func stretch(list []uint64) int {
	for i := 1; i < len(list); i++ {
		if list[i]-list[i-1] > nearID {
			return i
		}
	}
	return len(list)
}

// stretch produces rows with ids near each other.
func (r *run) stretch(list []uint64, to sink) error {
	if len(list) < longStretch {
		for _, id := range list {
			if err := r.point(id, to); err != nil {
				return err
			}
		}
		return nil
	}
	s := r.t.Scan(list[0], list[len(list)-1], false)
	defer s.Close()
	for s.Next() {
		if err := r.step(); err != nil {
			return err
		}
		for len(list) > 0 && list[0] < s.ID() {
			list = list[1:]
		}
		if len(list) == 0 {
			break // a damaged page may lead on
		}
		if list[0] > s.ID() {
			continue
		}
		if err := to.take(s.ID(), s.Row()); err != nil {
			return err
		}
	}
	return s.Err()
}

func (r *run) point(id uint64, to sink) error {
	if err := r.step(); err != nil {
		return err
	}
	b, err := r.t.Get(id)
	if b == nil || err != nil {
		return err
	}
	return to.take(id, b)
}
