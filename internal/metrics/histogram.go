package metrics

import (
	"sync/atomic"
	"time"
)

// Bounds are the upper bounds of a histogram's buckets, ascending, +Inf aside.
type Bounds [16]time.Duration

// The bounds of how long requests take, and of what takes longer.
var (
	Quick = Bounds{
		100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
		time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
		10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
	}
	Slow = Bounds{
		10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2500 * time.Millisecond, 5 * time.Second,
		10 * time.Second, 25 * time.Second, 50 * time.Second,
		100 * time.Second, 250 * time.Second, 500 * time.Second, 1000 * time.Second,
	}
)

// bucketOf returns the bucket of a duration. One that is a bound belongs to its bucket.
func (b *Bounds) bucketOf(took time.Duration) int {
	i := 0
	for i < len(b) && took > b[i] {
		i++
	}
	return i
}

// Histogram counts durations for many at once. It takes no lock, and the zero one is
// ready; it is always used with the same bounds.
type Histogram struct {
	buckets [len(Bounds{}) + 1]atomic.Uint64 // each without those below it
	nanos   atomic.Int64
}

// Observe counts one duration.
func (h *Histogram) Observe(b *Bounds, took time.Duration) {
	h.buckets[b.bucketOf(took)].Add(1)
	h.nanos.Add(int64(took))
}

// Distribution is how many durations there were, and how long they were. Nobody else
// may use it at the same time.
type Distribution struct {
	buckets [len(Bounds{}) + 1]uint64 // each without those below it
	sum     time.Duration
}

// Observe counts one duration.
func (d *Distribution) Observe(b *Bounds, took time.Duration) {
	d.buckets[b.bucketOf(took)]++
	d.sum += took
}

// Add adds another distribution with the same bounds.
func (d *Distribution) Add(other *Distribution) {
	for i, n := range other.buckets {
		d.buckets[i] += n
	}
	d.sum += other.sum
}

// AddHistogram adds what a histogram has counted so far.
func (d *Distribution) AddHistogram(h *Histogram) {
	for i := range h.buckets {
		d.buckets[i] += h.buckets[i].Load()
	}
	d.sum += time.Duration(h.nanos.Load())
}

// Count returns how many durations there were.
func (d *Distribution) Count() (total uint64) {
	for _, n := range d.buckets {
		total += n
	}
	return total
}
