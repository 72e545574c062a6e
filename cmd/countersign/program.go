package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// program is one run of the command line, as a value, so that tests can run it.
type program struct {
	args   []string
	getenv func(string) string
	in     io.Reader
	out    io.Writer // results only
	err    io.Writer // logs, and the one sentence of a failure
}

// command is one subcommand.
type command struct {
	name    string
	usage   string // operands and flags
	summary string
	example string
	run     func(ctx context.Context, p program, c command) error
}

// usageError reports a wrong command line.
type usageError struct{ problem string }

func (e usageError) Error() string { return e.problem }

// errHelp reports that help was requested and printed.
var errHelp = errors.New("help was given")

// parse parses flags, before or after operands, and returns the operands.
// define declares the flags.
func (c command) parse(p program, define func(*flag.FlagSet)) (operands []string, err error) {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	define(fs)
	rest := p.args
	for {
		if err := fs.Parse(rest); err != nil {
			return nil, c.parseFailed(p, fs, err)
		}
		if fs.NArg() == 0 {
			return operands, nil
		}
		operands = append(operands, fs.Arg(0))
		rest = fs.Args()[1:]
	}
}

// parseNone reads the flags of a command that takes no operands.
func (c command) parseNone(p program, define func(*flag.FlagSet)) error {
	operands, err := c.parse(p, define)
	if err == nil && len(operands) > 0 {
		return usageError{"takes no operands"}
	}
	return err
}

func (c command) parseFailed(p program, fs *flag.FlagSet, err error) error {
	if !errors.Is(err, flag.ErrHelp) {
		return usageError{err.Error()}
	}
	fmt.Fprintf(p.out, "%s\n\nusage: countersign %s %s\n\nexample:\n  %s\n", c.summary, c.name, c.usage, c.example)
	fs.SetOutput(p.out)
	hasFlags := false
	fs.VisitAll(func(*flag.Flag) { hasFlags = true })
	if hasFlags {
		fmt.Fprintln(p.out, "\nflags:")
		fs.PrintDefaults()
	}
	return errHelp
}
