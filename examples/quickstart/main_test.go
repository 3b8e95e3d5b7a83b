package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, filepath.Join(t.TempDir(), "library.fenec")))
	require.Contains(t, out.String(), "1  The Little Prince      96 pages\n2  Wind, Sand and Stars   229 pages\n")
	require.Contains(t, out.String(), "refused: duplicate")
}
