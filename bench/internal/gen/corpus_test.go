package gen

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"testing"
)

// The same bytes come out as from the generator in other languages.
func TestSameBytesEverywhere(t *testing.T) {
	const n, dim = 100_000, 128
	for _, c := range []struct {
		name, want string
		row        func(i int) []byte
	}{
		{"vectors", "c44de37f55059919204903a4e65741ead8df3585f270f2448dadb8976471ca05", vectorBytes(dim)},
		{"documents", "58ab05e377a11d641d0a8660720f310e20684751b5989de19282319302236758", documentBytes},
	} {
		h := sha256.New()
		for i := range n {
			h.Write(c.row(i))
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != c.want {
			t.Errorf("%s: SHA-256 is %s, want %s", c.name, got, c.want)
		}
	}
}

// vectorBytes returns a function that returns stored vectors as little-endian
// float32.
func vectorBytes(dim int) func(int) []byte {
	c, v, out := NewClustered(dim), make([]float32, dim), make([]byte, 4*dim)
	return func(i int) []byte {
		c.Fill(v, StoredVector, i)
		for j, x := range v {
			binary.LittleEndian.PutUint32(out[4*j:], math.Float32bits(x))
		}
		return out
	}
}

// documentBytes returns a document as a line of JSON.
func documentBytes(i int) []byte {
	d := MakeDocument(i)
	return fmt.Appendf(nil, `{"id":%q,"topic":%d,"num":%d,"title":%q,"body":%q}`+"\n", d.ID, d.Topic, d.Num, d.Title, d.Body)
}

func TestQuestions(t *testing.T) {
	for i, want := range []string{"hadirifo lonalona mu", "tubamugu jehafotu vahaje"} {
		if got := MakeQuestion(i); got != want {
			t.Errorf("question %d is %q, want %q", i, got, want)
		}
	}
}
