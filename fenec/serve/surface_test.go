package serve_test

import (
	"testing"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/exchange"
)

func TestSurface(t *testing.T) {
	exchange.Run(t, exchange.Surface(t), func(t *testing.T, fixture string) string {
		return start(t, serve.Options{}, exchange.Fixtures[fixture]...).url
	})
}
