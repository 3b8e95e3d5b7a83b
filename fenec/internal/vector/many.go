package vector

import "unsafe"

// DotMany sets out[i] to the dot product of q and the len(q) components that
// begin at rows[i]. Sums are in float32, in an order that depends on the
// processor: they choose candidates, which Score then measures. The results are
// finite. out must be as long as rows.
func DotMany(q []float32, rows []*float32, out []float32) {
	if len(rows) == 0 {
		return
	}
	out = out[:len(rows)]
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
	if len(rows) == 0 {
		return
	}
	out = out[:len(rows)]
	squaredL2Many(q, rows, out)
	for i, x := range out {
		if x-x != 0 {
			out[i] = narrow(squared(q, unsafe.Slice(rows[i], len(q))))
		}
	}
}

// DotFloat16Many is DotMany with rows of float16s.
func DotFloat16Many(q []float32, rows []*uint16, out []float32) {
	if len(rows) == 0 {
		return
	}
	out = out[:len(rows)]
	dotFloat16Many(q, rows, out)
	for i, x := range out {
		if x-x != 0 {
			out[i] = narrow(dotFloat16(q, unsafe.Slice(rows[i], len(q))))
		}
	}
}

// SquaredL2Float16Many is SquaredL2Many with rows of float16s.
func SquaredL2Float16Many(q []float32, rows []*uint16, out []float32) {
	if len(rows) == 0 {
		return
	}
	out = out[:len(rows)]
	squaredL2Float16Many(q, rows, out)
	for i, x := range out {
		if x-x != 0 {
			out[i] = narrow(squaredFloat16(q, unsafe.Slice(rows[i], len(q))))
		}
	}
}
