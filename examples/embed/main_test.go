package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const want = `3 open tasks
  + 1 Water the plants
  + 2 Feed the cat
  + 3 Buy food for the cat and for us
> put tasks {text: "Mow the lawn", done: false}
  + 4 Mow the lawn
> set tasks {done: true} where text = "Water the plants"
  - 1
> del tasks where id = 4
  - 4
found by "cat food"
  1.28 Buy *food* for the *cat* and for us
  0.50 Feed the *cat*
`

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, filepath.Join(t.TempDir(), "tasks.fenec")))
	require.Equal(t, want, out.String())
}
