//go:build !purego

package vector

import "testing"

var levelNames = [...]string{levelGo: "Go", levelAVX2: "AVX2", levelAVX512: "AVX512", levelVNNI: "VNNI"}

// eachLevel runs f with every kind of kernel this processor has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	withLevels(func(name string) { t.Run(name, f) })
}

func benchLevels(b *testing.B, f func(b *testing.B, level string)) {
	withLevels(func(name string) { f(b, name) })
}

func withLevels(f func(name string)) {
	best := simd
	defer func() { simd = best }()
	for simd = levelGo; simd <= best; simd++ {
		f(levelNames[simd])
	}
}
