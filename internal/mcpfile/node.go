package mcpfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// node is one JSON value with its line, so that every problem can name it.
type node struct {
	line    int
	kind    jsontext.Kind // '{', '[', '"', '0', 't', 'f' or 'n'
	text    string        // of a string, or the number as it is written
	members []member      // of an object, in the file's order
	items   []*node       // of a list
}

// member is one name of an object with its value.
type member struct {
	name  string
	line  int
	value *node
}

const (
	maxFile  = 1 << 20 // bytes
	maxDepth = 16
)

// parse reads one JSON value. An error names its line.
func parse(text []byte) (*node, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	p := parser{text: text, d: jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))}
	root, err := p.value(0)
	if err == nil {
		if _, err = p.d.ReadToken(); err == io.EOF {
			return root, nil
		}
		err = errors.New("there is more after the end of the object")
	}
	return nil, p.explain(err)
}

type parser struct {
	text []byte
	d    *jsontext.Decoder
}

// line is that of the token that was read last.
func (p *parser) line() int {
	return 1 + bytes.Count(p.text[:p.d.InputOffset()], []byte("\n"))
}

func (p *parser) explain(err error) error {
	line := p.line()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		line = 1 + bytes.Count(p.text[:min(int(syntax.ByteOffset), len(p.text))], []byte("\n"))
		err = syntax.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return fmt.Errorf("line %d: it is not JSON: %w", line, err)
}

func (p *parser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
	}
	token, err := p.d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{line: p.line(), kind: token.Kind()}
	switch n.kind {
	case '{':
		return n, p.object(n, depth)
	case '[':
		return n, p.list(n, depth)
	case '"', '0':
		n.text = token.String()
	}
	return n, nil
}

func (p *parser) object(n *node, depth int) error {
	for p.d.PeekKind() != '}' {
		name, err := p.d.ReadToken()
		if err != nil {
			return err
		}
		m := member{name: name.String(), line: p.line()}
		if m.value, err = p.value(depth + 1); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
	_, err := p.d.ReadToken()
	return err
}

func (p *parser) list(n *node, depth int) error {
	for p.d.PeekKind() != ']' {
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := p.d.ReadToken()
	return err
}
