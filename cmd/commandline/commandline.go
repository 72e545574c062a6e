// Package commandline reads the flags and operands of a command, in any order, and
// prints its help. It knows none of the commands. Start with [Parse].
package commandline

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// ErrHelp reports that help was requested and printed.
var ErrHelp = errors.New("help was given")

// Parse parses flags, before or after operands, and returns the operands. define
// declares the flags; help is printed to out before them when it is asked for.
func Parse(args []string, define func(*flag.FlagSet), out io.Writer, help string) (operands []string, err error) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	define(fs)
	for {
		switch err := fs.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			printHelp(fs, out, help)
			return nil, ErrHelp
		case err != nil:
			return nil, err
		case fs.NArg() == 0:
			return operands, nil
		}
		operands = append(operands, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

func printHelp(fs *flag.FlagSet, out io.Writer, help string) {
	fmt.Fprintln(out, help)
	fs.SetOutput(out)
	hasFlags := false
	fs.VisitAll(func(*flag.Flag) { hasFlags = true })
	if hasFlags {
		fmt.Fprintln(out, "\nflags:")
		fs.PrintDefaults()
	}
}
