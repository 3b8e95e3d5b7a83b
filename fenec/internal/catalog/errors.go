package catalog

import (
	"errors"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// ErrCorrupt is returned for stored definitions that are none.
var ErrCorrupt = errors.New("catalog: damaged definition")

// Named returns an error of package fault with the name of the field it is
// about in front, of the same kind. Other errors stay as they are.
func Named(field string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	return &fault.Error{Kind: f.Kind, Msg: "field \"" + field + "\": " + f.Msg, Err: f.Err}
}
