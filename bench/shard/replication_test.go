package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

// The parts about replication run. What they measure in so short a time means nothing.
func TestReplicationParts(t *testing.T) {
	for only, lines := range map[string][]string{
		"e": {"lag, p99", "failover of 20, per tenant"},
		"f": {"documents a second", "an image", "300 vectors of 8"},
		"g": {"replicas: map[n1:10 n2:10 n3:10]", "failover of 10, per tenant", "20 tenants, 20 of them on copies"},
		"h": {"refuses writes", "10 tenants, the first after"},
		"i": {"20 tenants, the first after", "promotions, per tenant"},
		"j": {"100 tenants came", "one change of", "one alone"},
	} {
		t.Run(only, func(t *testing.T) {
			var out strings.Builder
			cfg := settings(t, only)
			cfg.vectors, cfg.dim, cfg.moves, cfg.tenants, cfg.crowd, cfg.term = 300, 8, 1, 100, 20, time.Second
			if err := run(context.Background(), cfg, &out); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, line := range lines {
				if !strings.Contains(out.String(), line) {
					t.Errorf("the report does not tell of %q:\n%s", line, out.String())
				}
			}
		})
	}
}
