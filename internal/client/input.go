package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// prompt begins a line that a person writes.
const prompt = "> "

// line is one line that was entered, or why there are no more.
type line struct {
	text string
	err  error // io.EOF: the input has ended, or Ctrl-C or Ctrl-D was pressed
}

// input reads lines, one at a time and only when it is asked to: while an answer
// is printed the terminal is in its normal mode, in which Ctrl-C is a signal.
type input struct {
	lines   chan line
	asks    chan struct{}
	reading bool // a line was asked for and has not come

	problems io.Writer // has the prompt of a stream

	file *os.File // the terminal; nil: lines are read from a stream
	out  io.Writer
	term *term.Terminal // edits a line
	mode *term.State    // in which file was found
}

// newInput reads from in. Where in and out are a terminal, lines are edited there.
func newInput(in io.Reader, out, problems io.Writer) *input {
	i := &input{lines: make(chan line, 1), asks: make(chan struct{}, 1), problems: problems}
	read := streamLines(in)
	if file := terminalOf(in); file != nil && terminalOf(out) != nil {
		i.file, i.out = file, out
		i.renew(nil)
		read = i.editLine
	}
	go func() {
		for range i.asks {
			text, err := read()
			i.lines <- line{strings.TrimSpace(text), err}
		}
	}()
	return i
}

// IsTerminal reports whether a person is at a reader or writer.
func IsTerminal(stream any) bool { return terminalOf(stream) != nil }

// Interactive leaves it to a chat what Ctrl-C means; SIGTERM ends it.
func Interactive(ctx context.Context, o *Options) (context.Context, context.CancelFunc) {
	interrupts, resized := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	signal.Notify(resized, syscall.SIGWINCH)
	o.Interrupts, o.Resized = interrupts, resized
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
	return ctx, func() { stop(); signal.Stop(interrupts); signal.Stop(resized) }
}

// terminalOf returns the terminal behind a reader or writer, or nil.
func terminalOf(stream any) *os.File {
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// renew makes an editor of lines that knows the earlier ones.
func (i *input) renew(earlier term.History) {
	i.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{i.file, i.out}, prompt)
	if earlier != nil {
		i.term.History = earlier
	}
}

// discard drops what was typed ahead, unless a line is being edited: it is no answer
// to a change that was not there yet. A stream is read as it is.
func (i *input) discard() {
	if i.term == nil || i.reading {
		return
	}
	flush(int(i.file.Fd()))
	i.renew(i.term.History)
}

// streamLines reads lines of a file or pipe.
func streamLines(in io.Reader) func() (string, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<10)
	return func() (string, error) {
		if lines.Scan() {
			return lines.Text(), nil
		}
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			return "", errors.New("a line of the input is longer than 64 KiB")
		}
		if err := lines.Err(); err != nil {
			return "", err
		}
		return "", io.EOF
	}
}

// ask asks for a line, unless one was asked for. One terminal mode is for editing.
func (i *input) ask() error {
	if i.reading {
		return nil
	}
	if i.term != nil {
		mode, err := term.MakeRaw(int(i.file.Fd()))
		if err != nil {
			return err
		}
		i.mode = mode
	}
	i.reading = true
	if i.term == nil { // not by the goroutine that reads: others write there meanwhile
		_, _ = io.WriteString(i.problems, prompt)
	}
	i.asks <- struct{}{}
	return nil
}

// editLine lets a person edit a line.
func (i *input) editLine() (string, error) {
	text, err := i.term.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return text, err
}

// taken notes that the line which was asked for has come.
func (i *input) taken(l line) {
	i.reading = false
	if i.term == nil && l.err != nil {
		_, _ = io.WriteString(i.problems, "\n")
	}
	i.restore()
}

// restore gives a terminal its normal mode back.
func (i *input) restore() {
	if i.mode != nil {
		_ = term.Restore(int(i.file.Fd()), i.mode)
		i.mode = nil
	}
}

// close ends the reading. A read that is under way ends with its stream.
func (i *input) close() {
	close(i.asks)
	i.restore()
}

// resize tells the editor how wide the terminal is.
func (i *input) resize(columns, rows int) {
	if i.term != nil && columns > 0 && rows > 0 {
		_ = i.term.SetSize(columns, rows)
	}
}
