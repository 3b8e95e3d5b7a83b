package main

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strconv"
)

// flags is a set of flags with numbers that have a least and a greatest value.
type flags struct{ *flag.FlagSet }

// wrongFlag is an error of package flag, up to the one dash of a flag with a long name.
var wrongFlag = regexp.MustCompile(`^(flag .*: |invalid .* for (?:flag )?)-([a-z][a-z-]+)`)

// spelled returns an error of package flag with the flag as the help spells it.
func spelled(err error) error {
	text := err.Error()
	if !wrongFlag.MatchString(text) {
		return err
	}
	return errors.New(wrongFlag.ReplaceAllString(text, "$1--$2"))
}

// The largest values of flags, well before anything overflows.
const (
	maxNumber  = 1<<31 - 1
	maxMiB     = 1 << 20
	maxSeconds = 1 << 20
)

// number declares a flag whose value, def unless it is given, is handed to set.
func (f flags) number(name string, def, least, most int, set func(int)) {
	set(def)
	f.Func(name, "", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a number from %d to %d", least, most)
		}
		set(n)
		return nil
	})
}
