package posting

import "slices"

// overlayBlock is how many changes of an overlay have a bound together.
const overlayBlock = 64

// overlay is the changes of a list that are not folded yet.
type overlay struct {
	all    []Posting
	at     int
	blocks []bound // of overlayBlock changes each
}

func newOverlay(kind Kind, all []Posting) overlay {
	o := overlay{all: all, blocks: make([]bound, 0, (len(all)+overlayBlock-1)/overlayBlock)}
	for block := range slices.Chunk(all, overlayBlock) {
		var b bound
		for i := range block {
			if p := &block[i]; !p.Gone {
				b.add(kind, p)
			}
		}
		o.blocks = append(o.blocks, b)
	}
	return o
}

// id returns the id of the change stood at, or End.
func (o *overlay) id() uint64 {
	if o.at >= len(o.all) {
		return End
	}
	return o.all[o.at].ID
}

// seekGE moves to the first change at or after id. Near ones are found soonest.
func (o *overlay) seekGE(id uint64) {
	step := 1
	for o.at+step < len(o.all) && o.all[o.at+step-1].ID < id {
		o.at += step
		step *= 2
	}
	high := min(o.at+step, len(o.all))
	n, _ := slices.BinarySearchFunc(o.all[o.at:high], id, byID)
	o.at += n
}

// limit is List.limit for the changes alone.
func (o *overlay) limit(w *weigher) (most float64, last uint64) {
	if o.at >= len(o.all) {
		return 0, End
	}
	i := o.at / overlayBlock
	end := min((i+1)*overlayBlock, len(o.all))
	most, _ = w.limit(&o.blocks[i])
	return most, o.all[end-1].ID
}
