package metrics

import (
	"strconv"
	"strings"
)

// Type is the type of a family.
type Type string

// The types of families.
const (
	Counter       Type = "counter"
	Gauge         Type = "gauge"
	TypeHistogram Type = "histogram"
)

// Page is a text of families. The zero Page is empty.
type Page struct {
	text   []byte
	family string
}

// Bytes returns the text.
func (p *Page) Bytes() []byte { return p.text }

// Family begins a family. Its samples follow.
func (p *Page) Family(name string, t Type, help string) {
	p.family = name
	p.text = append(p.text, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+string(t)+"\n"...)
}

// Uint writes a sample of the family. labels are names and values in turn.
func (p *Page) Uint(v uint64, labels ...string) {
	p.name("", labels)
	p.text = append(strconv.AppendUint(p.text, v, 10), '\n')
}

// Float writes a sample of the family.
func (p *Page) Float(v float64, labels ...string) {
	p.name("", labels)
	p.text = append(strconv.AppendFloat(p.text, v, 'g', -1, 64), '\n')
}

// Durations writes the samples of a histogram, in seconds.
func (p *Page) Durations(b *Bounds, d *Distribution, labels ...string) {
	total := uint64(0)
	for i, n := range d.buckets {
		total += n
		le := "+Inf"
		if i < len(b) {
			le = strconv.FormatFloat(b[i].Seconds(), 'g', -1, 64)
		}
		p.name("_bucket", append(labels[:len(labels):len(labels)], "le", le))
		p.text = append(strconv.AppendUint(p.text, total, 10), '\n')
	}
	p.name("_sum", labels)
	p.text = append(strconv.AppendFloat(p.text, d.sum.Seconds(), 'g', -1, 64), '\n')
	p.name("_count", labels)
	p.text = append(strconv.AppendUint(p.text, total, 10), '\n')
}

// labelText escapes what a label's value may not hold.
var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// name writes what stands before a sample's value.
func (p *Page) name(suffix string, labels []string) {
	p.text = append(append(p.text, p.family...), suffix...)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		p.text = append(append(p.text, sep), labels[i]...)
		p.text = append(append(append(p.text, `="`...), labelText.Replace(labels[i+1])...), '"')
	}
	if len(labels) > 0 {
		p.text = append(p.text, '}')
	}
	p.text = append(p.text, ' ')
}
