package vector

import "unsafe"

// DotMany sets each out[i] to the dot product of q and the len(q) components that
// begin at rows[i]. Sums are in float32, in an order that depends on the
// processor: they choose candidates, which Score then measures. The results are
// finite. There may be more rows than out has room for: the others are fetched into
// the cache meanwhile, for a call to come.
func DotMany(q []float32, rows []*float32, out []float32) {
	if len(out) == 0 {
		return
	}
	_ = rows[len(out)-1]
	dotMany(q, rows, out)
	for i, x := range out {
		if x-x != 0 {
			out[i] = narrow(Product(q, unsafe.Slice(rows[i], len(q))))
		}
	}
}

// SquaredL2Many sets out[i] to the square of the Euclidean distance between q
// and the len(q) components that begin at rows[i], as DotMany does.
func SquaredL2Many(q []float32, rows []*float32, out []float32) {
	if len(out) == 0 {
		return
	}
	_ = rows[len(out)-1]
	squaredL2Many(q, rows, out)
	for i, x := range out {
		if x-x != 0 {
			out[i] = narrow(squared(q, unsafe.Slice(rows[i], len(q))))
		}
	}
}

// DotFloat16Many is DotMany with rows of float16s.
func DotFloat16Many(q []float32, rows []*uint16, out []float32) {
	if len(out) == 0 {
		return
	}
	_ = rows[len(out)-1]
	dotFloat16Many(q, rows, out)
	for i, x := range out {
		if x-x != 0 {
			out[i] = narrow(dotFloat16(q, unsafe.Slice(rows[i], len(q))))
		}
	}
}

// SquaredL2Float16Many is SquaredL2Many with rows of float16s.
func SquaredL2Float16Many(q []float32, rows []*uint16, out []float32) {
	if len(out) == 0 {
		return
	}
	_ = rows[len(out)-1]
	squaredL2Float16Many(q, rows, out)
	for i, x := range out {
		if x-x != 0 {
			out[i] = narrow(squaredFloat16(q, unsafe.Slice(rows[i], len(q))))
		}
	}
}
