package gen

import (
	"fmt"
	"strings"
)

// Document is a text of 40 to 119 words, of which a quarter belong to one topic
// and the others are rarer the higher their number.
type Document struct {
	ID    string
	Topic int
	Num   int // in [0, 1000), of no meaning
	Title string
	Body  string
}

const (
	topics     = 1000
	topicWords = 32
)

// MakeDocument returns document i.
func MakeDocument(i int) Document {
	s := newStream(documentStream, i)
	topic := s.below(topics)
	words := make([]string, 40+s.below(80))
	for k := range words {
		if s.next()&3 == 0 {
			words[k] = topicWord(topic, s.below(topicWords))
		} else {
			words[k] = word(s.rank())
		}
	}
	return Document{
		ID:    fmt.Sprintf("d%07d", i),
		Topic: int(topic),
		Num:   int(s.below(1000)),
		Title: strings.Join(words[:6], " "),
		Body:  strings.Join(words, " "),
	}
}

// MakeQuestion returns question i: two words of one topic and any third.
func MakeQuestion(i int) string {
	s := newStream(questionStream, i)
	topic := s.below(topics)
	first := topicWord(topic, s.below(topicWords))
	second := topicWord(topic, s.below(topicWords))
	return first + " " + second + " " + word(s.rank())
}

// word writes a number by one syllable for each of its hexadecimal digits.
func word(n uint32) string {
	w := syllables[n&15]
	for n >>= 4; n > 0; n >>= 4 {
		w += syllables[n&15]
	}
	return w
}

// topicWord returns a word of a topic, all of which have three syllables or more.
func topicWord(topic, j uint32) string { return word(256 + mix(topic*64+j)%65280) }
