package vector

// Metric is a way of measuring how near two vectors are.
type Metric uint8

const (
	Cosine Metric = iota // similarity from -1 to 1; higher is nearer
	L2                   // Euclidean distance; lower is nearer
	Dot                  // dot product; higher is nearer
)

// ParseMetric returns the metric that goes by name: cosine or cos, l2 or
// euclidean, dot or ip.
func ParseMetric(name string) (m Metric, ok bool) {
	switch name {
	case "cosine", "cos":
		return Cosine, true
	case "l2", "euclidean":
		return L2, true
	case "dot", "ip":
		return Dot, true
	}
	return 0, false
}

// String returns the first of the names that ParseMetric knows m by.
func (m Metric) String() string {
	return [...]string{Cosine: "cosine", L2: "l2", Dot: "dot"}[m]
}

// Better reports whether score a is nearer than score b.
func (m Metric) Better(a, b float32) bool {
	if m == L2 {
		return a < b
	}
	return a > b
}
