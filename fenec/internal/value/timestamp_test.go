package value_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

func TestParseTimestamp(t *testing.T) {
	tests := map[string]string{
		"2026-01-02":                       "2026-01-02T00:00:00Z",
		"2026-01-02T03":                    "2026-01-02T03:00:00Z",
		"2026-01-02t03:04":                 "2026-01-02T03:04:00Z",
		"2026-01-02 03:04:05":              "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05Z":             "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05z":             "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05.6":            "2026-01-02T03:04:05.600Z",
		"2026-01-02T03:04:05.06Z":          "2026-01-02T03:04:05.060Z",
		"2026-01-02T03:04:05.000Z":         "2026-01-02T03:04:05Z",
		"2024-02-29 12:34:56.789123+0200":  "2024-02-29T10:34:56.789Z",
		"2026-01-02T03:04:05.99999999999Z": "2026-01-02T03:04:05.999Z",
		"2026-01-02T03:00:00+03:00":        "2026-01-02T00:00:00Z",
		"2026-01-02T03+03":                 "2026-01-02T00:00:00Z",
		"2026-01-02T23:30-01":              "2026-01-03T00:30:00Z",
		"2026-01-02T00:00-23:59":           "2026-01-02T23:59:00Z",
		"2026-01-02Z":                      "2026-01-02T00:00:00Z",
		"2026-01-02+01:00":                 "2026-01-01T23:00:00Z",
		" \t2026-01-02\n":                  "2026-01-02T00:00:00Z",
		"2026-12-31T23:59:60Z":             "2027-01-01T00:00:00Z",
		"1969-12-31T23:59:59.999Z":         "1969-12-31T23:59:59.999Z",
		"0000-01-01":                       "0000-01-01T00:00:00Z",
		"0000-01-01T00:00+00:01":           "-0001-12-31T23:59:00Z",
		"9999-12-31T23:59:59.999Z":         "9999-12-31T23:59:59.999Z",
		"9999-12-31T23:59:60Z":             "10000-01-01T00:00:00Z",
		"2000-02-29":                       "2000-02-29T00:00:00Z",
	}
	for text, want := range tests {
		v, err := value.ParseTimestamp(text)
		require.NoError(t, err, text)
		require.Equal(t, value.KindTimestamp, v.Kind())
		require.Equal(t, want, string(value.AppendTimestamp(nil, v.AsInt())), text)
	}
}

func TestParseTimestampErrors(t *testing.T) {
	for _, text := range []string{
		"", "yesterday", "not a time", "2026", "2026-01", "2026-1-02", "2026-01-2", "26-01-02", "12026-01-02",
		"2026/01/01", "2026-02-30", "2025-02-29", "1900-02-29", "2026-04-31", "2026-00-01", "2026-13-01", "2026-01-00",
		"-026-01-02", "2026-01-02T", "2026-01-02T3", "2026-01-02T24", "2026-01-02T03:", "2026-01-02T03:4",
		"2026-01-02T03:60", "2026-01-02T03:04:", "2026-01-02T03:04:61", "2026-01-02T03:04:05.", "2026-01-02T03:04:05.Z",
		"2026-01-02T03:04:05,6", "2026-01-02T0304", "2026-01-02T03.5", "2026-01-02T03:04.5",
		"2026-01-02T03:04+1", "2026-01-02T03:04+1:00", "2026-01-02T03:04+24", "2026-01-02T03:04+01:60",
		"2026-01-02T03:04+01:0", "2026-01-02T03:04+010", "2026-01-02T03:04+01:", "2026-01-02T03:04+01:00:00",
		"2026-01-02T03:04 +01", "2026-01-02T03:04ZZ", "2026-01-02T03:04Z+01", "2026-01-02  03:04", "2026-01-02x",
		"2026-01-02T03:04 UTC", "２026-01-02", "2026-01-0é",
	} {
		_, err := value.ParseTimestamp(text)
		requireFault(t, fault.Type, err, text)
	}
}

// TestTimestampsAgainstTime compares reading and printing with package time.
func TestTimestampsAgainstTime(t *testing.T) {
	r := valuetest.Rand(8)
	for range 50000 {
		// Years -9999 to 19999 or so.
		ms := r.Int64N(30000*366*86400000) - 12000*366*86400000
		std := time.UnixMilli(ms).UTC()
		got := string(value.AppendTimestamp(nil, ms))
		if year := std.Year(); year >= 0 && year <= 9999 {
			layout := "2006-01-02T15:04:05Z"
			if ms%1000 != 0 {
				layout = "2006-01-02T15:04:05.000Z"
			}
			require.Equal(t, std.Format(layout), got)
			requireSame(t, value.Timestamp(ms), ts(t, got))
		} else {
			_, err := value.ParseTimestamp(got)
			require.Error(t, err)
			require.Contains(t, got, std.Format("-01-02T15:04:05"))
		}
	}
}

func TestAppendTimestampExtremes(t *testing.T) {
	require.Equal(t, "292278994-08-17T07:12:55.807Z", string(value.AppendTimestamp(nil, math.MaxInt64)))
	require.Equal(t, "-292275055-05-16T16:47:04.192Z", string(value.AppendTimestamp(nil, math.MinInt64)))
	require.Equal(t, "1970-01-01T00:00:00Z", string(value.AppendTimestamp(nil, 0)))
	require.Equal(t, "-0044-03-15T00:00:00Z", string(value.AppendTimestamp(nil, time.Date(-44, 3, 15, 0, 0, 0, 0, time.UTC).UnixMilli())))
}

// FuzzParseTimestamp checks that whatever is read prints and reads back as the
// same moment.
func FuzzParseTimestamp(f *testing.F) {
	f.Add("2024-02-29 12:34:56.789123+0200")
	f.Add(" 2026-01-02T03-03:30 ")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.ParseTimestamp(text)
		if err != nil {
			return
		}
		printed := string(value.AppendTimestamp(nil, v.AsInt()))
		if back, err := value.ParseTimestamp(printed); err == nil {
			requireSame(t, v, back)
		} else {
			require.NotEqual(t, "Z", printed[len("2026-01-02T03:04:05"):], "a year of four digits")
		}
	})
}
