package waltest

import "math/rand/v2"

// data is the content of a file: as it is now and as it is on disk, and the
// changes that lead from there to here.
type data struct {
	now, disk []byte
	unsynced  []change
	synced    int // changes that were made before unsynced
}

// change is a write, or without bytes a change of the size.
type change struct {
	off     int64
	written []byte
	size    int64
}

func (d *data) change(c change) {
	d.now = c.apply(d.now)
	d.unsynced = append(d.unsynced, c)
}

// sync brings the first upTo changes, counted from the file's creation, to disk.
func (d *data) sync(upTo int) {
	for d.synced < upTo && len(d.unsynced) > 0 {
		d.disk = d.unsynced[0].apply(d.disk)
		d.unsynced = d.unsynced[1:]
		d.synced++
	}
}

// crash returns what may be left: see Mem.Crash.
func (d *data) crash(rng *rand.Rand) []byte {
	left := resize(nil, int64(len(d.disk)))
	copy(left, d.disk)
	if rng == nil || len(d.unsynced) == 0 {
		return left
	}
	size := int64(len(d.disk))
	for _, c := range d.unsynced[:rng.IntN(len(d.unsynced)+1)] {
		size = c.sizeAfter(size)
	}
	left = resize(left, size)
	for off := int64(0); off < size; off += SectorBytes {
		d.crashSector(left, off, rng)
	}
	return left
}

// crashSector puts into left one of the states of the sector at off.
func (d *data) crashSector(left []byte, off int64, rng *rand.Rand) {
	var touching []change
	for _, c := range d.unsynced {
		if c.touches(off) {
			touching = append(touching, c)
		}
	}
	if len(touching) == 0 {
		return
	}
	var sector [SectorBytes]byte
	if off < int64(len(d.disk)) {
		copy(sector[:], d.disk[off:])
	}
	for _, c := range touching[:rng.IntN(len(touching)+1)] {
		c.applySector(sector[:], off)
	}
	copy(left[off:], sector[:])
}

// apply makes the change to b.
func (c change) apply(b []byte) []byte {
	b = resize(b, c.sizeAfter(int64(len(b))))
	if c.written != nil {
		copy(b[c.off:], c.written)
	}
	return b
}

func (c change) sizeAfter(size int64) int64 {
	if c.written == nil {
		return c.size
	}
	return max(size, c.off+int64(len(c.written)))
}

// touches reports whether the change can matter to the sector at off.
func (c change) touches(off int64) bool {
	if c.written == nil {
		return c.size < off+SectorBytes
	}
	return c.off < off+SectorBytes && off < c.off+int64(len(c.written))
}

// applySector makes the change to the one sector at off.
func (c change) applySector(sector []byte, off int64) {
	if c.written == nil {
		clear(sector[max(0, c.size-off):])
		return
	}
	if c.off >= off {
		copy(sector[c.off-off:], c.written)
	} else {
		copy(sector, c.written[off-c.off:])
	}
}

// resize returns b with a length of size, new bytes being zeros. It may reuse
// b's memory.
func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		clear(b[size:])
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}
