package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// The measures of a drawing, in its own units.
const (
	svgWidth, svgHeight = 720, 440
	svgLeft, svgRight   = 70, 20
	svgTop, svgBottom   = 40, 50
	svgPlotWidth        = svgWidth - svgLeft - svgRight
	svgPlotHeight       = svgHeight - svgTop - svgBottom
	svgBase             = svgHeight - svgBottom // where the lower axis lies
)

var svgColours = []string{"#c2410c", "#1d4ed8", "#15803d", "#7e22ce"}

// drawing maps recalls and latencies to places. Recalls are drawn by how much is
// missing, as a logarithm, since what matters lies close to 1; so are latencies.
type drawing struct {
	bytes.Buffer
	least, most float64 // powers of ten that the latencies lie between
	miss        float64 // the power of ten that no recall misses less than, but for 1
}

// drawSVG draws curves of recall against latency.
func drawSVG(title string, curves []curve) []byte {
	d := newDrawing(curves)
	d.print(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`, svgWidth, svgHeight)
	d.print(`<rect width="%d" height="%d" fill="#fff"/>`, svgWidth, svgHeight)
	d.text(svgLeft, 22, "start", title)
	d.axes()
	for i, c := range curves {
		d.curve(c, svgColours[i%len(svgColours)])
		d.legend(i, c.name)
	}
	d.print(`</svg>`)
	return d.Bytes()
}

func newDrawing(curves []curve) *drawing {
	d := &drawing{least: math.Inf(1), miss: 0.1}
	for _, c := range curves {
		for _, p := range c.points {
			d.least, d.most = min(d.least, p.latency), max(d.most, p.latency)
			if p.recall < 1 {
				d.miss = min(d.miss, 1-p.recall)
			}
		}
	}
	d.miss = math.Pow(10, math.Floor(math.Log10(d.miss)))
	d.least = math.Pow(10, math.Floor(math.Log10(d.least)))
	d.most = math.Pow(10, math.Ceil(math.Log10(d.most)))
	return d
}

func (d *drawing) print(format string, args ...any) {
	fmt.Fprintf(d, format, args...)
	d.WriteByte('\n')
}

func (d *drawing) text(x, y float64, anchor, s string) {
	d.print(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(s))
}

// x returns where a recall lies. All that miss less than can be drawn lie on the
// right edge, all that miss more than 0.9 on the left one.
func (d *drawing) x(recall float64) float64 {
	most := 0.9
	missing := min(max(1-recall, d.miss), most)
	return svgLeft + svgPlotWidth*math.Log(most/missing)/math.Log(most/d.miss)
}

func (d *drawing) y(latency float64) float64 {
	if d.most <= d.least {
		return svgBase
	}
	return svgBase - svgPlotHeight*math.Log(latency/d.least)/math.Log(d.most/d.least)
}

// axes draws a line for each power of ten.
func (d *drawing) axes() {
	const line = `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`
	const right, top = float64(svgWidth - svgRight), float64(svgTop)
	for miss := 0.1; miss >= d.miss*0.999; miss /= 10 {
		x := d.x(1 - miss)
		d.print(line, x, top, x, float64(svgBase))
		d.text(x, svgBase+18, "middle", fmt.Sprintf("%.6g", 1-miss))
	}
	for latency := d.least; latency <= d.most*1.001; latency *= 10 {
		y := d.y(latency)
		d.print(line, float64(svgLeft), y, right, y)
		d.text(svgLeft-6, y+4, "end", fmt.Sprintf("%.6g µs", latency/1e3))
	}
	d.text(svgLeft+svgPlotWidth/2, svgHeight-12, "middle", "recall of the first 10")
}

func (d *drawing) curve(c curve, colour string) {
	var path bytes.Buffer
	for _, p := range c.points {
		fmt.Fprintf(&path, "%.1f,%.1f ", d.x(p.recall), d.y(p.latency))
	}
	d.print(`<g fill="none" stroke="%s" stroke-width="2"><polyline points="%s"/>`, colour, bytes.TrimSpace(path.Bytes()))
	for _, p := range c.points {
		d.print(`<circle cx="%.1f" cy="%.1f" r="3"><title>ef %d: recall %.4f, %.0f µs</title></circle>`,
			d.x(p.recall), d.y(p.latency), p.ef, p.recall, p.latency/1e3)
	}
	d.print(`</g>`)
}

func (d *drawing) legend(i int, name string) {
	y := float64(svgTop + 16 + 18*i)
	d.print(`<rect x="%d" y="%.1f" width="14" height="4" fill="%s"/>`, svgLeft+14, y-6, svgColours[i%len(svgColours)])
	d.text(svgLeft+34, y, "start", name)
}
