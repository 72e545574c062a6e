package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"countersign.dev/cmd/commandline"
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

// parse parses flags, before or after operands, and returns the operands.
// define declares the flags.
func (c command) parse(p program, define func(*flag.FlagSet)) ([]string, error) {
	help := fmt.Sprintf("%s\n\nusage: countersign %s %s\n\nexample:\n  %s", c.summary, c.name, c.usage, c.example)
	operands, err := commandline.Parse(p.args, define, p.out, help)
	if err != nil && !errors.Is(err, commandline.ErrHelp) {
		err = usageError{err.Error()}
	}
	return operands, err
}

// parseNone reads the flags of a command that takes no operands.
func (c command) parseNone(p program, define func(*flag.FlagSet)) error {
	operands, err := c.parse(p, define)
	if err == nil && len(operands) > 0 {
		return usageError{"takes no operands"}
	}
	return err
}
