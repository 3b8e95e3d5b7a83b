package main

import "testing"

func TestPosting(t *testing.T) {
	d := newItems(3_000)
	for v := range d.byPrice.values() {
		var want []int32
		for i, f := range d.facts {
			if int(f.price) == v {
				want = append(want, int32(i+1))
			}
		}
		got := d.byPrice.of(v)
		if len(got) != len(want) {
			t.Fatalf("price %d: got ids %v, want %v", v, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("price %d: got ids %v, want %v", v, got, want)
			}
		}
	}
	if n := len(d.byPrice.between(0, d.byPrice.values())); n != d.rows {
		t.Errorf("all prices together have %d rows", n)
	}
}
