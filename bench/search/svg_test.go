package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// The drawing is well-formed, and all of it lies within its edges.
func TestDrawSVG(t *testing.T) {
	out := drawSVG("a & b", []curve{
		{"one", []point{{20, 0.5, 90e3}, {50, 0.995, 150e3}, {400, 1, 2e6}}},
		{"two", []point{{20, 0.05, 100e3}}},
	})
	circles, d := 0, xml.NewDecoder(strings.NewReader(string(out)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			circles++
		}
	}
	if circles != 4 {
		t.Errorf("%d points are drawn, want 4", circles)
	}
	d2 := newDrawing([]curve{{"one", []point{{20, 0.5, 90e3}, {50, 0.995, 150e3}}}})
	for _, r := range []float64{0, 0.05, 0.5, 0.99, 1} {
		if x := d2.x(r); x < svgLeft || x > svgWidth-svgRight {
			t.Errorf("recall %v lies at %v", r, x)
		}
	}
	for _, l := range []float64{90e3, 150e3} {
		if y := d2.y(l); y < svgTop || y > svgBase {
			t.Errorf("latency %v lies at %v", l, y)
		}
	}
}
