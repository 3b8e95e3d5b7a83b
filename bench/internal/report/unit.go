package report

import "fmt"

// Unit writes a figure for people.
type Unit func(float64) string

// Duration shows nanoseconds in the unit that fits.
func Duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}

// Rate shows operations a second.
func Rate(v float64) string { return fmt.Sprintf("%.0f/s", v) }

// Percent shows a share.
func Percent(v float64) string { return fmt.Sprintf("%.1f %%", v*100) }

// SizeName shows bytes in decimal units.
func SizeName(bytes int64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// Count shows a number of things.
func Count(v float64) string { return fmt.Sprintf("%.4g", v) }

// Size shows bytes in binary units.
func Size(bytes float64) string { return fmt.Sprintf("%.2f MiB", bytes/(1<<20)) }
