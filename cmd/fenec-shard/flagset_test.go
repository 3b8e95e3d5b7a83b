package main

import (
	"flag"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsSpellFlags(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--moves", "x"}, `invalid value "x" for flag --moves: want a number from 1 to 9`},
		{[]string{"-moves", "0"}, `invalid value "0" for flag --moves: want a number from 1 to 9`},
		{[]string{"--moves"}, "flag needs an argument: --moves"},
		{[]string{"--json=7"}, `invalid boolean value "7" for --json: parse error`},
		{[]string{"--max-bogus"}, "flag provided but not defined: --max-bogus"},
		{[]string{"-x"}, "flag provided but not defined: -x"},
		{[]string{"---x"}, "bad flag syntax: ---x"},
	} {
		fs := flags{flag.NewFlagSet("", flag.ContinueOnError)}
		fs.SetOutput(io.Discard)
		fs.number("moves", 1, 1, 9, func(int) {})
		fs.Bool("json", false, "")
		require.EqualError(t, spelled(fs.Parse(tc.args)), tc.want)
	}
}
