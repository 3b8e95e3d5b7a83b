//go:build windows || plan9 || solaris || aix || android

package base

import (
	"errors"
	"os"
)

// lazily says that files are opened for reading first. Here locks do not belong
// to what several descriptors share, so that files are opened for writing at
// once, and nothing below is called.
const lazily = false

func lock(*os.File) error { return errors.ErrUnsupported }

func unlock(*os.File) error { return errors.ErrUnsupported }

func share(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }
