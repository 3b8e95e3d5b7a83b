package text_test

import (
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

func ExampleBag() {
	var b text.Bag
	b.Fill(text.Analyzer{}, "Oak, elm; OAK 東京都")
	for i := range b.Len() {
		term, freq := b.At(i)
		fmt.Printf("%s %d\n", term, freq)
	}
	fmt.Println("length", b.Length())
	// Output:
	// elm 1
	// oak 2
	// 京都 1
	// 東京 1
	// length 5
}

func ExampleMarker() {
	var a text.Analyzer
	m := text.NewMarker(a, a.Terms("pine"))
	doc := "elm birch pine maple"
	fmt.Println(m.Marks(doc))
	fmt.Println(m.Snippet(doc, 2, "…"))

	snippet, marks := m.Snippet(doc, 2, "…")
	fmt.Println(text.Highlight(snippet, marks, "<b>", "</b>"))
	// Output:
	// [[10 14]]
	// …birch pine… [[7 11]]
	// …birch <b>pine</b>…
}
