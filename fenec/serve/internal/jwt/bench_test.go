package jwt_test

import (
	"testing"

	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
)

// BenchmarkVerify measures a token that is remembered, and one that is not, by
// each algorithm, beside what jwx's own verification of the signature alone takes.
func BenchmarkVerify(b *testing.B) {
	for alg, s := range signers() {
		path := keyFile(b, jwks(b, jwkOf(b, s.key, false, nil)))
		v, k, _ := open(b, jwt.Options{KeyFile: path})
		token := s.sign(b, `{}`, `{"sub":"ada","role":["x","app"],"rooms":["r1","r2"],"exp":4102444800}`)
		b.Run("alg="+alg+"/cached", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("alg="+alg+"/first", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jwt.NewVerifier(k, nothing).Verify(token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("alg="+alg+"/jws", func(b *testing.B) {
			b.ReportAllocs()
			public := publicKey(b, s)
			for b.Loop() {
				if _, err := jws.Verify([]byte(token), jws.WithKey(s.alg, public)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerifyParallel(b *testing.B) {
	_, k, _ := open(b, jwt.Options{KeyFile: keyFile(b, octFile("a"))})
	v := jwt.NewVerifier(k, nothing)
	token, err := k.Mint([]byte(`{"sub":"ada"}`))
	require.NoError(b, err)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := v.Verify(token); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
