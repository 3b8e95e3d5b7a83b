package gen

// stream is the random numbers of one row: mulberry32, started from what the row
// is and which it is, so that any row can be made alone and is the same on every
// machine.
type stream struct{ state uint32 }

// seed is what all streams start from.
const seed = 0xf3ecd0c5

// Kind is what a stream is for.
type Kind uint32

const (
	centreStream   Kind = 1
	StoredVector   Kind = 2
	QueryVector    Kind = 3
	documentStream Kind = 4
	questionStream Kind = 5
)

func newStream(k Kind, index int) stream {
	return stream{mix(seed ^ mix(uint32(k)*0x9e3779b1+uint32(index)))}
}

// mix is the 32-bit finaliser of MurmurHash3 (Appleby).
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

func (s *stream) next() uint32 {
	s.state += 0x6d2b79f5
	t := s.state
	t = (t ^ t>>15) * (t | 1)
	t ^= t + (t^t>>7)*(t|61)
	return t ^ t>>14
}

// below returns a number in [0, n).
func (s *stream) below(n uint32) uint32 { return s.next() % n }

// gauss returns a whole number that is about normal around 0: the sum of four
// 16-bit ones, less their mean.
func (s *stream) gauss() int {
	a, b := s.next(), s.next()
	return int(a&0xffff) + int(a>>16) + int(b&0xffff) + int(b>>16) - 131070
}

// rank returns a number in [1, 65536), with a probability of about one over it.
func (s *stream) rank() uint32 {
	bits := s.next() & 15
	return 1<<bits + s.next()&(1<<bits-1)
}
