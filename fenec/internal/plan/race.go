package plan

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// shortest returns the ids that the shortest option leads to, in order and once
// each. It is nil if all have more entries than worth says. Ids outside found.ids
// are left out. The list is good until the next call.
func (r *run) shortest(found *resolved, worth func(*run, ids) (int, error)) (list []uint64, o *option, err error) {
	if len(found.options) == 1 {
		return r.alone(found, worth)
	}
	most, err := worth(r, found.ids)
	if err != nil {
		return nil, nil, err
	}
	return r.race(found, most)
}

// alone is shortest where there is one option. How many rows there are is looked
// up only when it turns out to be long.
func (r *run) alone(found *resolved, worth func(*run, ids) (int, error)) (list []uint64, o *option, err error) {
	o = &found.options[0]
	r.racer.begin(r, o, r.list)
	done, err := r.racer.within(fewEntries)
	if !done && err == nil {
		var most int
		if most, err = worth(r, found.ids); most > fewEntries && err == nil {
			done, err = r.racer.within(most)
		}
	}
	r.list = r.racer.list
	if !done || err != nil {
		return nil, nil, err
	}
	return r.racer.ids(found.ids), o, nil
}

// race gathers the ids of every option at once, some entries of each in turn,
// and returns those of the one that ends first, in order and once each. winner
// is nil if all have more than most entries. Ids outside found.ids are left out.
func (r *run) race(found *resolved, most int) (list []uint64, winner *option, err error) {
	racers := make([]racer, 0, len(found.options))
	for i := range found.options {
		if o := &found.options[i]; o.length() <= most {
			racers = append(racers, racer{run: r, o: o})
		}
	}
	slices.SortStableFunc(racers, func(a, b racer) int { return a.o.rank() - b.o.rank() })
	defer func() {
		for i := range racers {
			racers[i].close()
		}
	}()
	for stretch := 16; ; stretch *= 2 {
		for i := range racers {
			if racers[i].o.length() > stretch || !racers[i].o.ready() {
				continue // each span costs as much as an entry
			}
			done, err := racers[i].advance(min(stretch, most+1))
			if err != nil {
				return nil, nil, err
			}
			if done {
				return racers[i].ids(found.ids), racers[i].o, nil
			}
		}
		if stretch > most {
			return nil, nil, nil
		}
	}
}

// scan is a scan of entries or rows.
type scan interface {
	Next() bool
	ID() uint64
	Err() error
}

// racer gathers the ids of one option.
type racer struct {
	run  *run
	o    *option
	next int  // the first span that is not begun
	scan scan // of the span before, or nil
	list []uint64

	entries *table.IndexScan // the last scan of entries, or nil
	of      *catalog.Index   // that it is of
}

// begin makes c gather the ids of o, in the place of those in list.
func (c *racer) begin(r *run, o *option, list []uint64) { *c = racer{run: r, o: o, list: list[:0]} }

// close ends the scan of entries.
func (c *racer) close() {
	if c.entries != nil {
		c.entries.Close()
		c.entries, c.of = nil, nil
	}
}

// within gathers ids as long as there are no more than most, and reports whether
// those are all.
func (c *racer) within(most int) (done bool, err error) {
	if c.o.length() > most || !c.o.ready() {
		return false, nil
	}
	return c.advance(most + 1)
}

// advance gathers ids until there are n, and reports whether those are all.
func (c *racer) advance(n int) (done bool, err error) {
	for len(c.list) < n {
		if c.scan == nil {
			if c.next == len(c.o.spans) {
				return true, nil
			}
			c.turn(&c.o.spans[c.next])
			c.next++
			continue
		}
		if !c.scan.Next() {
			if err := c.scan.Err(); err != nil {
				return false, err
			}
			c.scan = nil
			continue
		}
		if err := c.run.step(); err != nil {
			return false, err
		}
		c.list = append(c.list, c.scan.ID())
	}
	return false, nil
}

// turn goes on to a span: a scan of its entries or rows, or its id at once.
func (c *racer) turn(s *span) {
	switch {
	case s.isID():
		c.list = append(c.list, s.ids.first)
	case s.index == nil:
		c.scan = c.run.t.Scan(s.ids.first, s.ids.last, false)
	case s.index == c.of:
		c.entries.Reset(s.lower, s.upper)
		c.scan = c.entries
	default:
		c.close()
		c.entries, c.of = c.run.index(s, false), s.index
		c.scan = c.entries
	}
}

// ids returns what was gathered within bounds, in order and once each.
func (c *racer) ids(in ids) []uint64 {
	list := c.list
	if in != allIDs {
		list = slices.DeleteFunc(list, func(id uint64) bool { return id < in.first || id > in.last })
	}
	if !slices.IsSorted(list) {
		slices.Sort(list)
	}
	return slices.Compact(list)
}
