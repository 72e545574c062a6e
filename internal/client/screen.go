package client

import (
	"io"
	"strings"

	"golang.org/x/term"

	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/plaintext"
)

// The colours of a terminal, which say nothing that the words do not.
const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	amber = "\x1b[33m"
)

// screen is where a chat is read: answers and tables on one writer, everything
// about them on the other. Whatever comes from a model or a server has no
// characters left that could command a terminal.
type screen struct {
	out, problems io.Writer
	input         *input // its prompt is the last line while it reads
	color         bool
	json          bool            // programs read out: nothing but messages is written there
	open          bool            // the last line of out has no end
	fleeting      bool            // the last line is a state that the next output replaces
	held          strings.Builder // a line that is not complete, while the prompt is there
	prose         draw.Prose      // the text that is printed in pieces
}

func newScreen(o Options, i *input) *screen {
	s := &screen{out: o.Out, problems: o.Err, input: i, json: o.JSON}
	s.color = o.Color && terminalOf(o.Out) != nil
	return s
}

// width is the number of columns; 0: it is not a terminal, and lines are as long
// as they are.
func (s *screen) width() int {
	file := terminalOf(s.out)
	if file == nil {
		return 0
	}
	columns, rows, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	s.input.resize(columns, rows)
	return columns
}

// Write prints what belongs to an answer.
func (s *screen) Write(text []byte) (int, error) {
	if s.json || len(text) == 0 {
		return len(text), nil
	}
	s.wipe()
	if s.input != nil && s.input.reading && s.input.term != nil {
		return len(text), s.above(text)
	}
	s.open = text[len(text)-1] != '\n'
	return s.out.Write(text)
}

// above prints whole lines above the prompt, where a person may be writing.
func (s *screen) above(text []byte) error {
	s.held.Write(text)
	whole := s.held.String()
	end := strings.LastIndexByte(whole, '\n') + 1
	if end == 0 {
		return nil
	}
	s.held.Reset()
	s.held.WriteString(whole[end:])
	s.open = end < len(whole)
	_, err := s.input.term.Write([]byte(whole[:end]))
	return err
}

// words prints a piece of a text that a model or a server wrote.
func (s *screen) words(text string) {
	_, _ = io.WriteString(s, safe(s.prose.Read(text)))
}

// safe makes everything visible that is in a text of several lines.
func safe(text string) string {
	return plaintext.Escape(strings.ReplaceAll(text, "\r\n", "\n"), true)
}

// endLine ends a line that was begun.
func (s *screen) endLine() {
	_, _ = io.WriteString(s, s.prose.End())
	if s.open || s.held.Len() > 0 {
		_, _ = io.WriteString(s, "\n")
	}
	s.open = false
}

// line prints a line of its own.
func (s *screen) line(text string) {
	s.endLine()
	_, _ = io.WriteString(s, text+"\n")
}

// remark prints a line about the chat, which is no part of an answer.
func (s *screen) remark(text string) {
	s.wipe()
	s.endLine()
	if s.input != nil && s.input.reading && s.input.term != nil {
		_ = s.above([]byte(s.styled(faint, text) + "\n"))
		return
	}
	_, _ = io.WriteString(s.problems, s.styled(faint, text)+"\n")
}

// state shows on a terminal what goes on, until something else is printed.
func (s *screen) state(text string) {
	width := s.width()
	if s.json || width == 0 || s.input.reading {
		return
	}
	s.wipe()
	s.endLine()
	_, _ = io.WriteString(s.out, s.styled(faint, draw.Clip(text, width-1)))
	s.fleeting = true
}

// wipe removes the state.
func (s *screen) wipe() {
	if s.fleeting {
		s.fleeting = false
		_, _ = io.WriteString(s.out, "\r\x1b[K")
	}
}

func (s *screen) styled(style, text string) string {
	if !s.color {
		return text
	}
	return style + text + plain
}
