package vector

// lanes is how many sums a vector's components are dealt out to: component i to
// sum i%lanes, in ascending order. The sums are then added up by halves. This
// order is part of what a score is: the assembly follows it to the last bit.
const lanes = 16

// productGo is the dot product of two vectors of one length.
//
// A compiler may fuse x*y+z into one operation that rounds once, and does on
// arm64 and others. Converting a product explicitly forbids that, which here and
// in squaredGo keeps the bits the same everywhere.
func productGo(a, b []float32) float64 {
	low, high := productLanes(a, b), [lanes / 2]float64{}
	if len(a) > lanes/2 {
		high = productLanes(a[lanes/2:], b[lanes/2:])
	}
	return addUp(low, high)
}

// productLanes returns half of the sums: those of components i with i%lanes
// below lanes/2. Half as many stay in registers.
func productLanes(a, b []float32) (s [lanes / 2]float64) {
	for len(a) >= lanes/2 {
		x, y := (*[lanes / 2]float32)(a), (*[lanes / 2]float32)(b)
		s[0] += float64(float64(x[0]) * float64(y[0]))
		s[1] += float64(float64(x[1]) * float64(y[1]))
		s[2] += float64(float64(x[2]) * float64(y[2]))
		s[3] += float64(float64(x[3]) * float64(y[3]))
		s[4] += float64(float64(x[4]) * float64(y[4]))
		s[5] += float64(float64(x[5]) * float64(y[5]))
		s[6] += float64(float64(x[6]) * float64(y[6]))
		s[7] += float64(float64(x[7]) * float64(y[7]))
		next := min(lanes, len(a))
		a, b = a[next:], b[next:]
	}
	for i, x := range a {
		s[i] += float64(float64(x) * float64(b[i]))
	}
	return s
}

// squaredGo is the square of the Euclidean distance between two vectors of one
// length.
func squaredGo(a, b []float32) float64 {
	low, high := squaredLanes(a, b), [lanes / 2]float64{}
	if len(a) > lanes/2 {
		high = squaredLanes(a[lanes/2:], b[lanes/2:])
	}
	return addUp(low, high)
}

func squaredLanes(a, b []float32) (s [lanes / 2]float64) {
	for len(a) >= lanes/2 {
		x, y := (*[lanes / 2]float32)(a), (*[lanes / 2]float32)(b)
		s[0] += squaredGap(x[0], y[0])
		s[1] += squaredGap(x[1], y[1])
		s[2] += squaredGap(x[2], y[2])
		s[3] += squaredGap(x[3], y[3])
		s[4] += squaredGap(x[4], y[4])
		s[5] += squaredGap(x[5], y[5])
		s[6] += squaredGap(x[6], y[6])
		s[7] += squaredGap(x[7], y[7])
		next := min(lanes, len(a))
		a, b = a[next:], b[next:]
	}
	for i, x := range a {
		s[i] += squaredGap(x, b[i])
	}
	return s
}

func squaredGap(x, y float32) float64 {
	d := float64(x) - float64(y)
	return float64(d * d)
}

// addUp adds sums 0..7 to 8..15, then 0..3 of those to 4..7, and so on.
func addUp(low, high [lanes / 2]float64) float64 {
	for i := range low {
		low[i] += high[i]
	}
	for half := lanes / 4; half > 0; half /= 2 {
		for i := range half {
			low[i] += low[i+half]
		}
	}
	return low[0]
}
