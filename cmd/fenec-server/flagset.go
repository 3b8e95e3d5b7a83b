package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// flags is a set of flags with the kinds that the server has. Numbers are whole
// and have a least value; the greatest is well before anything overflows.
type flags struct{ *flag.FlagSet }

const (
	maxNumber = 1<<31 - 1
	// noDefault leaves what is set before.
	noDefault = -1
)

// number declares a flag whose value is handed to set.
func (f flags) number(name string, def, least int, set func(int)) {
	if def != noDefault {
		set(def)
	}
	f.Func(name, "", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > maxNumber {
			return fmt.Errorf("want a number from %d to %d", least, maxNumber)
		}
		set(n)
		return nil
	})
}

func (f flags) count(dst *int, name string, def, least int) {
	f.number(name, def, least, func(n int) { *dst = n })
}

func (f flags) seconds(dst *time.Duration, name string, def, least int) {
	f.number(name, def, least, func(n int) { *dst = time.Duration(n) * time.Second })
}

func (f flags) milliseconds(dst *time.Duration, name string, def, least int) {
	f.number(name, def, least, func(n int) { *dst = time.Duration(n) * time.Millisecond })
}

func (f flags) mebibytes(dst *int64, name string, def, least int) {
	f.number(name, def, least, func(n int) { *dst = int64(n) << 20 })
}

// secret declares a flag whose value never shows in messages.
func (f flags) secret(dst *serve.Secret, name string) {
	f.Func(name, "", func(s string) error {
		*dst = serve.NewSecret(s)
		return nil
	})
}

func (f flags) onOff(dst *bool, name string, def bool) {
	*dst = def
	f.Func(name, "", func(s string) error {
		if s != "on" && s != "off" {
			return errors.New("want on or off")
		}
		*dst = s == "on"
		return nil
	})
}
