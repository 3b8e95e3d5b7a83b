package main

import (
	"flag"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 9994: "9.99 kB", 9995: "10.0 kB", 99949: "99.9 kB", 99950: "100 kB",
		999499: "999 kB", 999500: "1.00 MB", 58685634: "58.7 MB", 12e9: "12.0 GB", 3e12: "3.00 TB", math.MaxInt64: "9.22 EB",
	} {
		require.Equal(t, want, size(n), "%d", n)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "4096": 4096, "9223372036854775807": math.MaxInt64, "7B": 7, "1kB": 1000, "1KB": 1000, "1.5GB": 1500000000,
		"20MiB": 20 << 20, "20 mib": 20 << 20, "0.1GB": 100000000, "2TiB": 2 << 40, "1KiB": 1024,
	} {
		got, err := parseSize(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "GB", "-1", "-1GB", "1XB", "1.5.5GB", "99999999TB", "NaN", "0x10", "1GB2"} {
		_, err := parseSize(s)
		require.Error(t, err, s)
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "-999", -1000: "-1,000"} {
		require.Equal(t, want, number(n))
	}
}

func TestTook(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0s", 0.0101: "10ms", 1.26: "1.3s", 59.9: "59.9s", 178.82: "2m59s", 7322: "2h2m2s"} {
		require.Equal(t, want, took(seconds))
	}
}

// Every flag of a command is in its help.
func TestEveryFlagIsInTheHelp(t *testing.T) {
	for _, c := range commands {
		var o order
		common, own := o.flagSet(), o.flagSet()
		c.declare(own)
		own.VisitAll(func(f *flag.Flag) {
			if common.Lookup(f.Name) == nil {
				require.Contains(t, c.flags, "--"+f.Name, c.name)
			}
		})
	}
}
