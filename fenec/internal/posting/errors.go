package posting

import (
	"errors"
	"fmt"
)

// ErrCorrupt is returned when a stored posting list cannot be what was written.
// The message says of which key and what was found.
var ErrCorrupt = errors.New("corrupt posting list")

func corrupt(key []byte, format string, args ...any) error {
	return fmt.Errorf("key %.64q: %w: %s", key, ErrCorrupt, fmt.Sprintf(format, args...))
}
