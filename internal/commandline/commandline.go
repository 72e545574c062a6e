// Package commandline describes commands, reads their flags and operands, in any
// order, prints their help, and turns their errors into a sentence and an exit code.
// It knows none of the commands. Start with [Command.Parse].
package commandline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"

	"countersign.dev/internal/fault"
)

// The exit codes.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// errHelp reports that help was requested and printed.
var errHelp = errors.New("help was given")

// UsageError reports a wrong command line.
type UsageError struct{ Problem string }

func (e UsageError) Error() string { return e.Problem }

// Command is what people read about a command.
type Command struct {
	Program string // that it is a command of
	Name    string
	Usage   string // operands and flags
	Summary string
	Example string
}

// Parse parses flags, before or after operands, and returns the operands. define
// declares the flags; help is printed to out when it is asked for, and is an error
// that Report counts as done. A wrong flag is a UsageError.
func (c Command) Parse(args []string, define func(*flag.FlagSet), out io.Writer) ([]string, error) {
	help := fmt.Sprintf("%s\n\nusage: %s %s %s\n\nexample:\n  %s", c.Summary, c.Program, c.Name, c.Usage, c.Example)
	operands, err := parse(args, define, out, help)
	if err != nil && !errors.Is(err, errHelp) {
		err = UsageError{err.Error()}
	}
	return operands, err
}

// Report prints a command's error as one sentence to out and returns the exit code.
func (c Command) Report(out io.Writer, err error) int {
	var usage UsageError
	switch {
	case err == nil || errors.Is(err, errHelp):
		return ExitDone
	case errors.As(err, &usage):
		fmt.Fprintf(out, "%s %s: %s\nusage: %s %s %s\n", c.Program, c.Name, usage.Problem, c.Program, c.Name, c.Usage)
		return ExitUsage
	}
	fmt.Fprintf(out, "%s %s: %s\n", c.Program, c.Name, fault.Sentence(err))
	var own interface{ ExitStatus() int }
	if errors.As(err, &own) {
		return own.ExitStatus()
	}
	return ExitFailed
}

func parse(args []string, define func(*flag.FlagSet), out io.Writer, help string) (operands []string, err error) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	define(fs)
	for {
		switch err := fs.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			printHelp(fs, out, help)
			return nil, errHelp
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

// Address is a flag's address of a server, which begins with http:// or https://.
type Address string

func (a *Address) String() string { return string(*a) }

// Set implements flag.Value.
func (a *Address) Set(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("an address begins with http:// or https:// and a host")
	}
	*a = Address(text)
	return nil
}
