package main

import (
	"context"
	"flag"
	"io"

	"countersign.dev/internal/commandline"
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
	commandline.Command
	run func(ctx context.Context, p program, c command) error
}

// parse parses flags, before or after operands, and returns the operands.
// define declares the flags.
func (c command) parse(p program, define func(*flag.FlagSet)) ([]string, error) {
	return c.Parse(p.args, define, p.out)
}

// parseNone reads the flags of a command that takes no operands.
func (c command) parseNone(p program, define func(*flag.FlagSet)) error {
	operands, err := c.parse(p, define)
	if err == nil && len(operands) > 0 {
		return misused("takes no operands")
	}
	return err
}

// misused reports a wrong command line.
func misused(problem string) error { return commandline.UsageError{Problem: problem} }
