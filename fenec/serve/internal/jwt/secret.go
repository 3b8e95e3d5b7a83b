package jwt

import (
	"fmt"
	"io"
	"log/slog"
)

// minSecret is the length of the shortest secret, in bytes: that of the hashes
// it makes (RFC 7518, 3.2).
const minSecret = 32

// Secret is what tokens are signed with by HS256. It prints as asterisks, however
// it is printed or encoded. The zero Secret is none.
type Secret struct {
	reveal func() []byte // a function, as fmt looks into fields without asking their methods
}

// NewSecret returns s as a Secret, or an error if it is too short to be one.
func NewSecret(s string) (Secret, error) {
	if len(s) < minSecret {
		return Secret{}, fmt.Errorf("jwt: a secret of %d bytes: %d are needed", len(s), minSecret)
	}
	return Secret{func() []byte { return []byte(s) }}, nil
}

// IsZero reports whether s is none.
func (s Secret) IsZero() bool { return s.reveal == nil }

const hidden = "***"

// Format prints asterisks for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns asterisks.
func (Secret) String() string { return hidden }

// MarshalText returns asterisks.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue returns asterisks.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
