package value

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

const (
	msPerSecond = 1000
	msPerMinute = 60 * msPerSecond
	msPerHour   = 60 * msPerMinute
	msPerDay    = 24 * msPerHour
)

// ParseTimestamp reads a moment in UTC from text: YYYY-MM-DD, then optionally
// T, t or a blank and HH[:MM[:SS[.fraction]]], then optionally Z, z or an
// offset +HH, +HHMM or +HH:MM (or -). Without an offset it is UTC. White space
// around is ignored, fraction digits past the third are dropped, and second 60
// is second 0 of the next minute. Anything else is a fault.Type.
func ParseTimestamp(s string) (Value, error) {
	ms, ok := parseTimestamp(s)
	if !ok {
		return Null, fault.New(fault.Type, "%q is not a timestamp, want YYYY-MM-DDTHH:MM:SSZ", abbreviate(s))
	}
	return Timestamp(ms), nil
}

func parseTimestamp(s string) (ms int64, ok bool) {
	s = strings.TrimSpace(s)
	days, s, ok := cutDate(s)
	if !ok {
		return 0, false
	}
	var clock int64
	if s != "" && (s[0] == 'T' || s[0] == 't' || s[0] == ' ') {
		if clock, s, ok = cutClock(s[1:]); !ok {
			return 0, false
		}
	}
	offset, ok := parseOffset(s)
	if !ok {
		return 0, false
	}
	return days*msPerDay + clock - offset, true
}

// cutDate reads YYYY-MM-DD off s and returns the days since 1970-01-01.
func cutDate(s string) (days int64, rest string, ok bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return 0, "", false
	}
	century, ok1 := twoDigits(s)
	year, ok2 := twoDigits(s[2:])
	month, ok3 := twoDigits(s[5:])
	day, ok4 := twoDigits(s[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return 0, "", false
	}
	year += 100 * century
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, "", false
	}
	return daysOf(year, month, day), s[10:], true
}

// cutClock reads HH[:MM[:SS[.fraction]]] off s and returns its milliseconds.
func cutClock(s string) (ms int64, rest string, ok bool) {
	hour, ok := twoDigits(s)
	if !ok || hour > 23 {
		return 0, "", false
	}
	ms, s = hour*msPerHour, s[2:]
	if s == "" || s[0] != ':' {
		return ms, s, true
	}
	minute, ok := twoDigits(s[1:])
	if !ok || minute > 59 {
		return 0, "", false
	}
	ms, s = ms+minute*msPerMinute, s[3:]
	if s == "" || s[0] != ':' {
		return ms, s, true
	}
	second, ok := twoDigits(s[1:])
	if !ok || second > 60 {
		return 0, "", false
	}
	ms, s = ms+second*msPerSecond, s[3:]
	if s == "" || s[0] != '.' {
		return ms, s, true
	}
	fraction, s, ok := cutFraction(s[1:])
	return ms + fraction, s, ok
}

// cutFraction reads the digits after the point, one at least, and returns the
// milliseconds they stand for.
func cutFraction(s string) (ms int64, rest string, ok bool) {
	n := 0
	for unit := int64(100); n < len(s) && isDigit(s[n]); n++ {
		ms += int64(s[n]-'0') * unit
		unit /= 10
	}
	return ms, s[n:], n > 0
}

// parseOffset reads all of s as a zone and returns its milliseconds east of
// UTC.
func parseOffset(s string) (ms int64, ok bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hour, ok := twoDigits(s[1:])
	if !ok || hour > 23 {
		return 0, false
	}
	ms = hour * msPerHour
	if rest := s[3:]; rest != "" {
		rest = strings.TrimPrefix(rest, ":")
		minute, ok := twoDigits(rest)
		if !ok || minute > 59 || len(rest) != 2 {
			return 0, false
		}
		ms += minute * msPerMinute
	}
	if s[0] == '-' {
		ms = -ms
	}
	return ms, true
}

func twoDigits(s string) (n int64, ok bool) {
	if len(s) < 2 || !isDigit(s[0]) || !isDigit(s[1]) {
		return 0, false
	}
	return int64(s[0]-'0')*10 + int64(s[1]-'0'), true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func daysIn(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysOf returns the days from 1970-01-01 to a day of the proleptic Gregorian
// calendar, after H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
// Years begin in March there, so that the leap day is a year's last, and 400 of
// them, an era, have 146097 days.
func daysOf(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*146097 + dayOfEra - 719468
}

// dateOf is the inverse of daysOf.
func dateOf(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	dayOfEra := days - era*146097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153
	day = dayOfYear - (153*shifted+2)/5 + 1
	year, month = yearOfEra+era*400, shifted+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// AppendTimestamp appends a moment as YYYY-MM-DDTHH:MM:SSZ, or with .mmm before
// the Z when its milliseconds are not zero. A year beyond four digits has as
// many as it needs, one before 0 a minus.
func AppendTimestamp(dst []byte, ms int64) []byte {
	days := floorDiv(ms, msPerDay)
	clock := ms - days*msPerDay
	year, month, day := dateOf(days)
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	}
	dst = appendPadded(dst, year, 4)
	dst = appendPadded(append(dst, '-'), month, 2)
	dst = appendPadded(append(dst, '-'), day, 2)
	dst = appendPadded(append(dst, 'T'), clock/msPerHour, 2)
	dst = appendPadded(append(dst, ':'), clock/msPerMinute%60, 2)
	dst = appendPadded(append(dst, ':'), clock/msPerSecond%60, 2)
	if frac := clock % msPerSecond; frac != 0 {
		dst = appendPadded(append(dst, '.'), frac, 3)
	}
	return append(dst, 'Z')
}

// appendPadded appends n >= 0 with zeros before it, up to width.
func appendPadded(dst []byte, n int64, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for ; n > 0 || width > 0; width-- {
		i--
		buf[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, buf[i:]...)
}

// abbreviate shortens text for a message.
func abbreviate(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
