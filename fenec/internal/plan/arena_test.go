package plan_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/plan"
)

func TestArena(t *testing.T) {
	var a plan.Arena
	for round := range 3 {
		var given, copies [][]byte
		for i := range 2000 {
			b := bytes.Repeat([]byte{byte(i), byte(round)}, i%97)
			if i%500 == 499 {
				b = bytes.Repeat(b, 1000) // too long for a piece
			}
			given, copies = append(given, bytes.Clone(b)), append(copies, a.Copy(b))
			clear(b)
		}
		for i, c := range copies {
			require.True(t, bytes.Equal(given[i], c), i)
		}
		a.Reset()
	}
}

// What little is copied after a Reset takes no memory.
func TestArenaReset(t *testing.T) {
	var a plan.Arena
	row := make([]byte, 200)
	copyFive := func() {
		for range 5 {
			a.Copy(row)
		}
		a.Reset()
	}
	copyFive()
	require.Zero(t, testing.AllocsPerRun(100, copyFive))
}
