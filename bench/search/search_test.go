package main

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		text   string
		prefix int
		want   []string
	}{
		{"", 0, nil},
		{"?!", 0, nil},
		{"İstanbul'da IŞIK", 0, []string{"istanbul", "da", "işik"}},
		{"I\u0307zmir", 0, []string{"izmir"}},
		{"ＡＢＣ１２", 0, []string{"abc12"}},
		{"東京都庁", 0, []string{"東京", "京都", "都庁"}},
		{"都", 0, []string{"都"}},
		{"web東京2", 0, []string{"web", "東京", "2"}},
		{"ภาษาไทย", 0, []string{"ภาษ", "าษา", "ษาไ", "าไท", "ไทย"}},
		{"3.14 C++ foo_bar", 0, []string{"3", "14", "c", "foo", "bar"}},
		{"kitapların da", 5, []string{"kitaplarin", "^kit", "^kita", "^kitap", "da"}},
		{"kita", 5, []string{"kita", "^kit"}},
	} {
		if got := terms(c.text, c.prefix); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// The scores are those of the language's reference.
func TestBM25(t *testing.T) {
	x := newTextIndex([]string{"oak oak pine", "oak", "elm birch pine maple", "Oak ELM", ""}, 0)
	for question, want := range map[string][]hit{
		"oak":       {{0, 0.456045}, {1, 0.402424}, {3, 0.370723}},
		"OAK, oak!": {{0, 0.912089}, {1, 0.804848}, {3, 0.741447}},
		"elm pine":  {{2, 1.244782}, {3, 0.720448}, {0, 0.667840}},
		"willow":    nil,
	} {
		got := x.all(question)
		if len(got) != len(want) {
			t.Fatalf("%q: got %v, want %v", question, got, want)
		}
		for i := range got {
			if got[i].id != want[i].id || math.Abs(got[i].score-want[i].score) > 1e-5*want[i].score {
				t.Errorf("%q: got %v, want %v", question, got, want)
			}
		}
		if err := sameScores(x.top(question, 3), want); err != nil {
			t.Errorf("%q: MaxScore: %v", question, err)
		}
	}
}

// MaxScore answers what scoring every posting does, ids too.
func TestTop(t *testing.T) {
	c := documents(3000, 300)
	x := newTextIndex(c.texts, 0)
	for _, q := range c.questions {
		want := x.all(q)
		want = want[:min(page, len(want))]
		got := x.top(q, page)
		if err := sameScores(got, want); err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		for i := range got {
			if got[i].id != want[i].id {
				t.Errorf("%q: got %v, want %v", q, got, want)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	e := newEnv(config{n: 500, questions: 20}, t.TempDir(), nil)
	s := e.clustered()
	for i, q := range s.asked {
		var all []near
		for id := range s.len() {
			sum := 0.0
			for k, x := range s.at(id) {
				sum += float64(x-q[k]) * float64(x-q[k])
			}
			all = append(all, near{int32(id), float32(math.Sqrt(sum))})
		}
		slices.SortFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
		var ids []int32
		for k, n := range s.nearest(q, page, nil) {
			ids = append(ids, n.id)
			if n.id != all[k].id {
				t.Errorf("question %d: %d is at %d, want %d", i, n.id, k, all[k].id)
			}
		}
		if n, err := s.hits(q, s.reach[i], ids); err != nil || n != page {
			t.Errorf("question %d: %d of the right ids are right, %v", i, n, err)
		}
		wrong := []int32{all[0].id, all[page].id}
		if n, err := s.hits(q, s.reach[i], wrong); err != nil || n != 1 {
			t.Errorf("question %d: %d of a right and a wrong id are right, %v", i, n, err)
		}
	}
	for _, ids := range [][]int32{{1, 1}, {-1}, {500}} {
		if _, err := s.hits(s.asked[0], 1, ids); err == nil {
			t.Errorf("%v was taken", ids)
		}
	}
}

// fixed is a graph whose recall rises with ef.
type fixed struct{ graph }

func (fixed) name() string { return "fixed" }

func (fixed) answers(_ context.Context, ef int) ([][]int32, error) {
	ids := make([]int32, 0, page)
	for i := range page {
		ids = append(ids, int32(i))
		if i >= ef/100 {
			ids[i] += 100 // which is not within reach
		}
	}
	return [][]int32{ids}, nil
}

func TestLeast(t *testing.T) {
	s := &vectorSet{dim: 1, asked: [][]float32{{0}}, reach: []float32{50}}
	for i := range 200 {
		s.flat = append(s.flat, float32(i))
	}
	m := newMeasured(fixed{}, s)
	for want, ef := range map[float64]int{0.1: 100, 0.55: 600, 1: 1000} {
		if got, err := m.least(context.Background(), want); err != nil || got != ef {
			t.Errorf("recall %v: got ef %d and %v, want %d", want, got, err, ef)
		}
	}
}

func TestQuality(t *testing.T) {
	j := &judged{questions: []string{"first", "third", "missed"}, answer: []int32{4, 4, 4}}
	answers := [][]int32{{4, 1, 2}, {1, 2, 4}, {1, 2, 3}}
	got, err := j.quality(func(i int) ([]int32, error) { return answers[i], nil })
	if want := (1 + 0.5) / 3; err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v and %v, want %v", got, err, want)
	}
}

func TestFuse(t *testing.T) {
	got := fuse([]int32{3, 0, 1}, []int32{0, 2, 1})
	if want := []int32{0, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEmbed(t *testing.T) {
	e := newEmbedder([]string{"red fox", "red hen", "blue whale"})
	dot := func(a, b string) (sum float64) {
		u, v := e.embed(a), e.embed(b)
		for i := range u {
			sum += float64(u[i]) * float64(v[i])
		}
		return sum
	}
	if d := dot("a red fox", "a red fox"); math.Abs(d-1) > 1e-6 {
		t.Errorf("a text with itself gives %v, want 1", d)
	}
	if like, unlike := dot("foxes", "fox"), dot("foxes", "whale"); like <= unlike {
		t.Errorf("foxes are %v like a fox and %v like a whale", like, unlike)
	}
	if d := dot("", "fox"); d != 0 {
		t.Errorf("nothing is %v like a fox", d)
	}
}

func TestCountTagged(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		n, tag := rng.IntN(1000), int64(rng.IntN(tags))
		want := 0
		for id := range n {
			if tagOf(int32(id)) == tag {
				want++
			}
		}
		if got := countTagged(n, tag); got != want {
			t.Errorf("of %d rows %d have the tag %d, want %d", n, got, tag, want)
		}
	}
}
