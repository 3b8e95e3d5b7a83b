package tenant

import "errors"

// Errors that say why there is no handle.
var (
	// ErrNotFound is returned for a tenant that has no file.
	ErrNotFound = errors.New("no such tenant")

	// ErrName is returned for a name that is not 1 to 64 bytes of a-z, 0-9, _
	// and -.
	ErrName = errors.New("tenant name must be 1 to 64 characters of a-z, 0-9, _ and -")

	// ErrProvisioning is returned for a tenant that is still being set up.
	ErrProvisioning = errors.New("tenant is being set up")

	// ErrDegraded is returned for a tenant whose status says so, or whose database
	// this process could not open. A failed open is tried again after a while.
	ErrDegraded = errors.New("tenant is degraded")

	// ErrBusy is returned when there was no place within Options.Wait: too much in
	// flight, or too many databases open; by Delete and Rename when the tenant was
	// still in use after Options.DeleteWait; and by an Import beside another one
	// of the same name.
	ErrBusy = errors.New("tenant is busy")

	// ErrClosed is returned once the manager is closing.
	ErrClosed = errors.New("tenants are being closed")
)

// Errors of handles.
var (
	// ErrReleased is returned by everything that is asked of a handle after
	// Release, and of what was made from it.
	ErrReleased = errors.New("tenant handle was released")

	// ErrEnded is returned by a stream of a tenant that is being deleted or renamed.
	ErrEnded = errors.New("tenant is being deleted or renamed")

	// ErrFrozen is returned by writes to a frozen tenant, and by Rename.
	ErrFrozen = errors.New("tenant is frozen: it is being moved")
)

// Errors of changes to the directory.
var (
	// ErrExists is returned by Create, Provision, Import, Undelete and Rename for a
	// name that is taken.
	ErrExists = errors.New("tenant exists already")

	// ErrFollows is returned by Rename for a tenant that follows another node's, which it
	// knows by its name.
	ErrFollows = errors.New("tenant is a replica: it follows another node's by its name")

	// ErrTooLarge is returned by Import for an image over Options.MaxImport.
	ErrTooLarge = errors.New("image is too large")
)
