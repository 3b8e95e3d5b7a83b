package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRunExitCodes(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name         string
		parse, serve error
		code         int
		says         string
	}{
		{"served", nil, nil, 0, ""},
		{"help", ErrHelp, nil, 0, ""},
		{"flags", broken, nil, 2, "daemon: broken\n"},
		{"cannot be opened", nil, broken, 1, "daemon: broken\n"},
		{"holds a password", nil, errors.New("dial http://me:s3cret@host/"), 1, "daemon: dial http://[redacted]@host/\n"},
		{"makes no sense", nil, fmt.Errorf("policy: %w", &UsageError{broken}), 2, "daemon: policy: broken\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stderr bytes.Buffer
			code := Run("daemon", nil, &stderr,
				func([]string, io.Writer) (int, error) { return 7, tc.parse },
				func(_ context.Context, cfg int, _ io.Writer) error {
					require.Equal(t, 7, cfg)
					return tc.serve
				})
			require.Equal(t, tc.code, code)
			require.Equal(t, tc.says, stderr.String())
		})
	}
}
