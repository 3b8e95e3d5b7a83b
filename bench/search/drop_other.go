//go:build !linux

package main

import "errors"

// dropCaches is not known here.
func dropCaches() error { return errors.ErrUnsupported }
