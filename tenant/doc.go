// Package tenant keeps a directory of databases, one file a tenant, and opens
// each on its first use.
//
// A [Manager] owns the directory. [Manager.Acquire] returns a [Handle] to a
// tenant's database and keeps it open until the handle is released; databases
// nobody uses are closed after a while. A tenant exists if its file does:
// Create makes it, Delete takes it away, and nothing else does either, so a
// misspelt name is ErrNotFound and never an empty database.
//
//	m, err := tenant.Open("data", tenant.Options{})
//	…
//	h, err := m.Acquire(ctx, "acme")
//	if err != nil {
//		return err
//	}
//	defer h.Release()
//	res, err := h.DB().Query(ctx, "get orders limit 10")
//
// At most one instance of a file is open at any time; a slow open or close of
// one tenant holds up that tenant alone. One process at a time may own a
// directory: files are locked one by one, as they are opened.
package tenant

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound is returned for a tenant that has no file.
	ErrNotFound = errors.New("no such tenant")

	// ErrExists is returned by Create for a name that is taken.
	ErrExists = errors.New("tenant exists already")

	// ErrName is returned for a name that is not 1 to 64 bytes of a-z, 0-9, _
	// and -.
	ErrName = errors.New("tenant name must be 1 to 64 characters of a-z, 0-9, _ and -")

	// ErrBusy is returned by Delete when the tenant was still in use after the
	// time it waits.
	ErrBusy = errors.New("tenant is still in use")

	// ErrClosed is returned once the manager is closing.
	ErrClosed = errors.New("tenants are being closed")
)

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
