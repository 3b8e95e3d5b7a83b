package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkFor measures what a token costs that comes for the first time, once its
// policy is there: as a rule this is done once for many requests.
func BenchmarkFor(b *testing.B) {
	f, db := parse(b, published), database(b, publishedSchema...)
	for _, n := range []int{0, 10, 1000} {
		var rooms []string
		for i := range n {
			rooms = append(rooms, fmt.Sprintf(`"room-%d"`, i))
		}
		token := claimsOf(b, `{"sub":"ada","rooms":[`+strings.Join(rooms, ",")+`]}`)
		b.Run(fmt.Sprintf("rooms=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := f.For(token)
				require.NoError(b, err)
				_, err = s.Session(db)
				require.NoError(b, err)
			}
		})
	}
}
