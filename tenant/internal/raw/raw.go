// Package raw lets the packages below tenant have a tenant's database itself, to
// give it a surface. Everybody else goes through a handle, which stops working when
// it is released.
package raw

import "github.com/fenec-go/fenecdb/fenec"

// DB returns the database of a *tenant.Handle, or nil once that is released. It
// must not be used after the release, and not be closed. Package tenant sets it.
var DB func(handle any) *fenec.DB
