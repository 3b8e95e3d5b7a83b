package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// show prints an answer: as it came to scripts, else as render tells it.
func (c *console) show(body []byte, render func(t *table)) error {
	if c.raw {
		_, err := fmt.Fprintf(c.out, "%s\n", bytes.TrimSpace(body))
		return err
	}
	var text bytes.Buffer
	t := &table{tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)}
	render(t)
	t.w.Flush()
	_, err := text.WriteTo(c.out)
	return err
}

// say prints one line for people, and nothing to scripts.
func (c *console) say(format string, args ...any) error {
	if c.raw {
		return nil
	}
	_, err := fmt.Fprintf(c.out, format+"\n", args...)
	return err
}

// table is lines of cells whose columns are aligned.
type table struct{ w *tabwriter.Writer }

// row adds a line. An empty cell shows as a dash.
func (t *table) row(cells ...string) {
	for i, cell := range cells {
		if cell == "" {
			cells[i] = "-"
		}
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

// line adds a line that is no part of the columns.
func (t *table) line(format string, args ...any) { fmt.Fprintf(t.w, format+"\n", args...) }

// limit returns a limit as text: none is an empty cell.
func limit(n int64, text func(int64) string) string {
	if n == 0 {
		return ""
	}
	return text(n)
}

// units are what sizes end in when they are printed, each a thousand of the one
// before.
var units = []string{"kB", "MB", "GB", "TB", "PB", "EB"}

// size returns a number of bytes with three digits that count.
func size(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n)/1000, 0
	for v >= 999.5 {
		v, unit = v/1000, unit+1
	}
	return digits(v) + " " + units[unit]
}

// digits returns a number up to a thousand with three digits that count.
func digits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// number returns a whole number with its thousands set apart.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// factors are what sizes may end in when they are read, in lower case.
var factors = map[string]float64{
	"": 1, "b": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// parseSize reads a number of bytes, such as 4096, 1.5GB or "20 MiB".
func parseSize(s string) (int64, error) {
	at := strings.LastIndexFunc(s, unicode.IsDigit) + 1
	text, unit := s[:at], strings.TrimSpace(s[at:])
	factor, known := factors[strings.ToLower(unit)]
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && factor == 1 && n >= 0 {
		return n, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	v = math.Round(v * factor)
	if err != nil || !known || !(v >= 0 && v < math.MaxInt64) {
		return 0, errors.New("want a size such as 4096, 1.5GB or 20MiB")
	}
	return int64(v), nil
}

// pairs returns labels as one cell, in the order of their names.
func pairs(labels map[string]string) string {
	list := make([]string, 0, len(labels))
	for k, v := range labels {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// count returns a number of things with their name.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + one + "s"
}
