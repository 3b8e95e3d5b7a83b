//go:build !amd64 || purego

package vector

import "testing"

func eachLevel(t *testing.T, f func(t *testing.T)) { t.Run("Go", f) }

func benchLevels(b *testing.B, f func(b *testing.B, level string)) { f(b, "Go") }
