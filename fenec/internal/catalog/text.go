package catalog

import (
	"fmt"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// TextOptions are the options of an index of kind Text. Those that its
// declaration left out have their defaults.
type TextOptions struct {
	K1, B     float64 // of BM25, each 0 to 100 in whole hundredths
	Prefix    int     // characters of the longest beginnings of words that are terms too, at most 64; 0 for none
	PrefixMin int     // characters of the shortest ones, 1 to 64
	Chars     bool    // single characters are terms too where pairs of them are
}

// What the options of a declaration are that it leaves out.
const (
	defaultK1        = 0.9
	defaultB         = 0.4
	defaultPrefixMin = 3
)

const (
	maxRatio  = 100 // of K1 and B
	maxPrefix = 64  // characters
)

// defineText returns the options that d declares.
func defineText(d *ql.TextDef) (*TextOptions, error) {
	k1, b := or(d.K1, defaultK1), or(d.B, defaultB)
	prefix, prefixMin := or(d.Prefix, 0), or(d.PrefixMin, defaultPrefixMin)
	if err := checkText(k1, b, prefix, prefixMin); err != nil {
		return nil, err
	}
	return &TextOptions{
		K1: ofHundredths(hundredths(k1)), B: ofHundredths(hundredths(b)),
		Prefix: int(prefix), PrefixMin: int(prefixMin), Chars: d.Chars,
	}, nil
}

// or returns what p points to, or fallback if it is nil.
func or[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// hundredths returns how many hundredths f is, to the nearest.
func hundredths(f float64) uint64 { return uint64(math.Round(f * 100)) }

func ofHundredths(n uint64) float64 { return float64(n) / 100 }

func (o *TextOptions) check() error {
	return checkText(o.K1, o.B, int64(o.Prefix), int64(o.PrefixMin))
}

func checkText(k1, b float64, prefix, prefixMin int64) error {
	for _, o := range [...]struct {
		name  string
		value float64
	}{{"k1", k1}, {"b", b}} {
		if !(o.value >= 0 && o.value <= maxRatio) { // NaN is neither
			return fault.New(fault.Query, "@text takes %s from 0 to %d, got %v", o.name, maxRatio, o.value)
		}
	}
	return Text.checkWhole(
		whole{"prefix", prefix, 0, maxPrefix},
		whole{"prefix_min", prefixMin, 1, maxPrefix})
}

// String returns the index as a declaration spells it, without the "@": K1 and B
// in any case, the others where they are not the defaults.
func (o *TextOptions) String() string {
	s := fmt.Appendf(nil, "text(k1=%v, b=%v", o.K1, o.B)
	if o.Prefix != 0 {
		s = fmt.Appendf(s, ", prefix=%d", o.Prefix)
	}
	if o.PrefixMin != defaultPrefixMin {
		s = fmt.Appendf(s, ", prefix_min=%d", o.PrefixMin)
	}
	if o.Chars {
		s = append(s, ", chars"...)
	}
	return string(append(s, ')'))
}
