package vector

import (
	"math/bits"
	"unsafe"
)

// The kernels of processors without assembly of their own. Several sums at once
// keep them from waiting for one addition after another.

func dotManyGo(q []float32, rows []*float32, out []float32) {
	for i, p := range rows[:len(out)] {
		out[i] = dot32(q, unsafe.Slice(p, len(q)))
	}
}

func dot32(q, row []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(q) >= 4 && len(row) >= 4 {
		s0 += q[0] * row[0]
		s1 += q[1] * row[1]
		s2 += q[2] * row[2]
		s3 += q[3] * row[3]
		q, row = q[4:], row[4:]
	}
	for j, x := range q {
		s0 += x * row[j]
	}
	return s0 + s1 + (s2 + s3)
}

func squaredL2ManyGo(q []float32, rows []*float32, out []float32) {
	for i, p := range rows[:len(out)] {
		out[i] = squared32(q, unsafe.Slice(p, len(q)))
	}
}

func squared32(q, row []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(q) >= 4 && len(row) >= 4 {
		d0, d1, d2, d3 := q[0]-row[0], q[1]-row[1], q[2]-row[2], q[3]-row[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		q, row = q[4:], row[4:]
	}
	for j, x := range q {
		d := x - row[j]
		s0 += d * d
	}
	return s0 + s1 + (s2 + s3)
}

func dotFloat16ManyGo(q []float32, rows []*uint16, out []float32) {
	for i, p := range rows[:len(out)] {
		out[i] = narrow(dotFloat16(q, unsafe.Slice(p, len(q))))
	}
}

func dotFloat16(q []float32, row []uint16) (sum float64) {
	for j, h := range row {
		sum += float64(q[j]) * float64(FromFloat16(h))
	}
	return sum
}

func squaredL2Float16ManyGo(q []float32, rows []*uint16, out []float32) {
	for i, p := range rows[:len(out)] {
		out[i] = narrow(squaredFloat16(q, unsafe.Slice(p, len(q))))
	}
}

func squaredFloat16(q []float32, row []uint16) (sum float64) {
	for j, h := range row {
		d := float64(q[j]) - float64(FromFloat16(h))
		sum += d * d
	}
	return sum
}

func dotInt8ManyGo(q []int8, rows []*int8, out []int32) {
	for i, p := range rows[:len(out)] {
		out[i] = dotInt8(q, unsafe.Slice(p, len(q)))
	}
}

func dotInt8(q, row []int8) int32 {
	var s0, s1, s2, s3 int32
	for len(q) >= 4 && len(row) >= 4 {
		s0 += int32(q[0]) * int32(row[0])
		s1 += int32(q[1]) * int32(row[1])
		s2 += int32(q[2]) * int32(row[2])
		s3 += int32(q[3]) * int32(row[3])
		q, row = q[4:], row[4:]
	}
	for j, x := range q {
		s0 += int32(x) * int32(row[j])
	}
	return s0 + s1 + s2 + s3
}

// planesManyGo counts, for each row, the bits that its words share with those of
// each plane; a bit of plane p is worth 2^p.
func planesManyGo(q [][8]uint64, rows []*uint64, out []int32) {
	for i, p := range rows[:len(out)] {
		var s [8]int
		for j, w := range unsafe.Slice(p, len(q)) {
			planes := &q[j]
			s[0] += bits.OnesCount64(planes[0] & w)
			s[1] += bits.OnesCount64(planes[1] & w)
			s[2] += bits.OnesCount64(planes[2] & w)
			s[3] += bits.OnesCount64(planes[3] & w)
			s[4] += bits.OnesCount64(planes[4] & w)
			s[5] += bits.OnesCount64(planes[5] & w)
			s[6] += bits.OnesCount64(planes[6] & w)
			s[7] += bits.OnesCount64(planes[7] & w)
		}
		sum := 0
		for plane, count := range s {
			sum += count << plane
		}
		out[i] = int32(sum)
	}
}
