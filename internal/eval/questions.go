package eval

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Set is the questions of one file.
type Set struct {
	Name          string // of the file, without its extension
	Conversations []Conversation
}

// Conversation is one person's questions in order; most have only one.
type Conversation struct {
	As    string // a sample person of a demo; empty: the person of the given token
	Turns []Question
}

// Question is one turn, and what a right answer to it rests on.
type Question struct {
	Ask    string         `yaml:"ask"`
	Expect Kind           `yaml:"expect"` // default: Answer
	Calls  []ExpectedCall `yaml:"calls"`  // all of them must have been made; further reading calls may be
	Rows   []string       `yaml:"rows"`   // texts that the data of the calls must hold; of a change: its card
	Says   []names        `yaml:"says"`   // texts that the written answer must contain; of a list any one
	Never  []string       `yaml:"never"`  // texts that it must not contain
}

// ExpectedCall is a call that a right answer rests on.
type ExpectedCall struct {
	Tools names          `yaml:"tool"` // one of them
	Args  map[string]any `yaml:"args"` // each must have this value, or one of a list; others may be there
}

// Kind is how a turn must end.
type Kind string

// The kinds of a right answer.
const (
	Answer  Kind = "answer"   // data was found, and the answer has it
	Refusal Kind = "refusal"  // the tools or rows are closed to the person, and the answer says so
	Clarify Kind = "question" // the model asks for what is ambiguous or missing
	Decline Kind = "decline"  // it cannot be done here, and the answer says so
	Change  Kind = "change"   // a change waits for its person
)

const (
	maxAsk   = 2048    // characters; the gateway takes no more
	maxBytes = 4 << 20 // of a file
	defaults = "questions"
)

// names is a list in YAML; a single text is a list of one.
type names []string

func (n *names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = names{node.Value}
		return nil
	}
	return node.Decode((*[]string)(n))
}

// entry is a conversation as a file spells it: its first question is beside
// the person, the others follow in then.
type entry struct {
	As       string `yaml:"as"`
	Question `yaml:",inline"`
	Then     []Question `yaml:"then"`
}

//go:embed questions/*.yaml
var ours embed.FS

// Sets reads a file of questions. With no name it returns our own about the
// sample company: one half that planners and prompts are tuned on, and one half
// that they are not.
func Sets(file string) ([]Set, error) {
	if file == "" {
		return defaultSets()
	}
	set, err := load(file)
	return []Set{set}, err
}

func defaultSets() ([]Set, error) {
	files, err := ours.ReadDir(defaults)
	if err != nil {
		return nil, err
	}
	var sets []Set
	for _, f := range files {
		raw, err := ours.ReadFile(path.Join(defaults, f.Name()))
		if err != nil {
			return nil, err
		}
		set, err := parse(f.Name(), raw)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	slices.Reverse(sets) // the tuned half first
	return sets, nil
}

// load reads one file. A problem is reported with its line or its question.
func load(file string) (Set, error) {
	f, err := os.Open(file)
	if err != nil {
		return Set{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return Set{}, err
	}
	if len(raw) > maxBytes {
		return Set{}, fmt.Errorf("%s has more than %d bytes", file, maxBytes)
	}
	return parse(filepath.Base(file), raw)
}

func parse(name string, raw []byte) (Set, error) {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	var entries []entry
	if err := d.Decode(&entries); err != nil && !errors.Is(err, io.EOF) {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	set := Set{Name: strings.TrimSuffix(name, filepath.Ext(name))}
	for _, e := range entries {
		c := Conversation{e.As, append([]Question{e.Question}, e.Then...)}
		for i := range c.Turns {
			if err := c.Turns[i].check(); err != nil {
				return Set{}, fmt.Errorf("%s: question %q: %w", name, c.Turns[i].Ask, err)
			}
		}
		set.Conversations = append(set.Conversations, c)
	}
	if len(entries) == 0 {
		return Set{}, fmt.Errorf("%s has no questions", name)
	}
	return set, nil
}

// check completes a question, or says what is wrong with it.
func (q *Question) check() error {
	if q.Expect == "" {
		q.Expect = Answer
	}
	texts := slices.Concat(q.Rows, slices.Concat(q.Says...), q.Never)
	switch {
	case strings.TrimSpace(q.Ask) == "":
		return errors.New("ask is empty")
	case len([]rune(q.Ask)) > maxAsk:
		return fmt.Errorf("ask has more than %d characters", maxAsk)
	case !slices.Contains([]Kind{Answer, Refusal, Clarify, Decline, Change}, q.Expect):
		return fmt.Errorf("expect is %q; it is answer, refusal, question, decline or change", q.Expect)
	case q.Expect == Change && len(q.Calls) == 0:
		return errors.New("a change needs the call that asks for it")
	case q.Expect == Answer && len(q.Calls)+len(q.Rows)+len(q.Says) == 0:
		return errors.New("nothing says what a right answer rests on: give calls, rows or says")
	case slices.ContainsFunc(q.Says, func(any names) bool { return len(any) == 0 }), slices.Contains(texts, ""):
		return errors.New("an empty text is in every answer")
	}
	for _, c := range q.Calls {
		if len(c.Tools) == 0 || slices.Contains(c.Tools, "") {
			return errors.New("a call names no tool")
		}
	}
	return q.checkPlaceholders()
}

// on returns the question with its placeholders replaced.
func (q Question) on(day time.Time) Question {
	dates := datesOn(day)
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(p string) string { return dates[strings.Trim(p, "{}")] })
	}
	return q.mapped(fill)
}

// mapped returns the question with every text but a tool's name mapped.
func (q Question) mapped(f func(string) string) Question {
	all := func(texts []string) []string {
		out := make([]string, len(texts))
		for i, text := range texts {
			out[i] = f(text)
		}
		return out
	}
	q.Ask, q.Rows, q.Never, q.Says = f(q.Ask), all(q.Rows), all(q.Never), slices.Clone(q.Says)
	for i, any := range q.Says {
		q.Says[i] = all(any)
	}
	q.Calls = slices.Clone(q.Calls)
	for i, c := range q.Calls {
		args := make(map[string]any, len(c.Args))
		for name, value := range c.Args {
			args[name] = mapValue(value, f)
		}
		q.Calls[i].Args = args
	}
	return q
}

func (q Question) checkPlaceholders() error {
	known := datesOn(time.Unix(0, 0).UTC())
	var unknown string
	q.mapped(func(text string) string {
		for _, p := range placeholder.FindAllStringSubmatch(text, -1) {
			if known[p[1]] == "" {
				unknown = p[1]
			}
		}
		return text
	})
	if unknown != "" {
		return fmt.Errorf("there is no placeholder {%s}; there are %s", unknown, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return nil
}
