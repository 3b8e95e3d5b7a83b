package tenant

import (
	"encoding/json"
	"fmt"
)

// ID says which tenant. It comes from a Manager only, may be kept and compared, and
// can be written to a log but not be read back: see Manager.Lookup. The zero ID is
// no tenant's.
type ID struct{ name string }

// String returns the tenant's name.
func (id ID) String() string { return id.name }

// MarshalJSON returns the tenant's name as JSON.
func (id ID) MarshalJSON() ([]byte, error) { return json.Marshal(id.name) }

// CheckName returns ErrName, naming it, for a name no tenant can have.
func CheckName(name string) error {
	if len(name) < 1 || len(name) > 64 {
		return fmt.Errorf("%w: %.80q", ErrName, name)
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return fmt.Errorf("%w: %q", ErrName, name)
		}
	}
	return nil
}
