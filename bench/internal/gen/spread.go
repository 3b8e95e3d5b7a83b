package gen

// Spread visits the numbers of [0, n) in an order that jumps about, each once
// in n steps, without remembering any.
type Spread struct{ n, step, next int64 }

// NewSpread visits [0, n), where n must be positive.
func NewSpread(n int64) *Spread {
	step := int64(float64(n) * 0.6180339887)
	for step < 1 || gcd(step, n) != 1 {
		step++
	}
	return &Spread{n: n, step: step}
}

// Take returns the next number.
func (s *Spread) Take() int64 {
	s.next = (s.next + s.step) % s.n
	return s.next
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
