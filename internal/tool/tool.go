// Package tool declares and runs tools. A declaration is made with [Read],
// [List], [Write], [Edit] or [Offsets]: a name, a description, the roles that may
// call it, typed input and output, and a function. The [Runner] does everything
// else, in one order (run.go).
//
// A tool's function has no access to MCP, HTTP, tokens, roles, Redis or a log; this
// package knows no store, no transport and no tool by name. Start with Spec in
// tool.go, then Runner.Call in run.go and Runner.Answer in write.go.
package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
)

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{1,63}$`)

// Spec is the declared part of a tool.
type Spec struct {
	Name        string        // verb_noun; unique on its server
	Title       string        // for people, in lists of tools
	Description string        // what it returns and when to use it; models choose tools by it
	Allow       []access.Role // who may call it; never empty
	Noun        string        // lists: what the rows are, "employees"
	Narrow      string        // lists: which filters make the list shorter, "department or name"
	Own         string        // what a caller without further rights sees by it, "your own record"; offered when a tool about the same rows is refused
	Ask         string        // reads: a question that it answers for everyone who may call it, with no argument to add; for people who do not know what to ask
	AskOf       string        // reads of one thing by its id: a question that it answers about the thing whose name is %s in it, "Who is %s?"; to go on with
	Synonyms    []string      // other words for what it does or is about; never shown to a model
	Lacks       []Lack        // what people ask it for and is not kept or done here; said to them, never shown to a model
	Untrusted   []string      // result fields with unverified text
	Replaces    bool          // edits: it overwrites or removes what is there; without it, an edit only adds
	Page        int           // keyset lists: rows of a page at most; default 50
	DefaultPage int           // keyset lists: rows of a page when the caller does not say; default Page
}

// Lack is what people ask a tool for that it does not do.
type Lack = result.Lack

// The deadlines of a call. A host that waits longer gets no other answer.
const (
	ReadTimeout  = 5 * time.Second  // of reads, lists and edits
	WriteTimeout = 10 * time.Second // of a write's preview, and of its change
)

// recordTimeout is the deadline of the event of a call that is over.
const recordTimeout = 5 * time.Second

// Tool is a declared tool, ready for a [Runner].
type Tool struct {
	spec   Spec
	kind   result.Kind
	pager  pager
	input  reflect.Type
	output reflect.Type // of the data; of one row on lists
	shown  reflect.Type // writes only

	do      func(ctx context.Context, c *call) (any, *result.Page, error) // reads, lists, edits
	preview func(ctx context.Context, c *call) (previewed, error)         // writes
	apply   func(ctx context.Context, c *call, p previewed) (any, error)
}

// pager is how a list is divided into pages.
type pager uint8

const (
	noPages pager = iota
	keyset        // limit 1–50 and a sealed cursor
	offset        // limit 1–1,000 and an offset
)

// windowInput holds the page inputs of a list.
type windowInput struct {
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
	Offset int    `json:"offset"`

	unlimited bool // no limit was given
}

// Spec returns the declaration.
func (t Tool) Spec() Spec { return t.spec }

// Kind returns the tool's kind.
func (t Tool) Kind() result.Kind { return t.kind }

// given is an input that was read.
type given struct {
	input  json.RawMessage // canonical, defaults filled in
	rows   string          // ids of the rows that it names
	window windowInput
	typed  any // a pointer to it as the tool's own type; nil: not read yet
}

// call is one validated call, as the functions of a declaration see it.
type call struct {
	given
	spec    *Spec
	who     *access.Principal
	cursors *seal.Ring // keyset lists only
	now     func() time.Time
}

// previewed is the result of the preview of a write.
type previewed struct {
	shown        Preview
	precondition any
	nothing      any // the output of a change that would change nothing; nil: it changes something
}

// decode returns the validated input as the tool's own type.
func decode[In any](c *call) (In, error) {
	if typed, ok := c.typed.(*In); ok {
		return *typed, nil
	}
	in := new(In)
	err := into(c.input, in)
	return *in, err
}

// Read declares a tool that returns one thing. do runs on a read-only handle.
func Read[In, Out any](s Spec, do func(context.Context, In) (Out, error)) Tool {
	return immediate(s, result.Read, do)
}

// Edit declares an immediate change that its caller can undo and that touches
// only their own workspace. Its intent is audited before it runs. Changes of
// company data are declared with [Write].
func Edit[In, Out any](s Spec, do func(context.Context, In) (Out, error)) Tool {
	return immediate(s, result.Edit, do)
}

func immediate[In, Out any](s Spec, kind result.Kind, do func(context.Context, In) (Out, error)) Tool {
	t := Tool{spec: s, kind: kind, input: reflect.TypeFor[In](), output: reflect.TypeFor[Out]()}
	if do == nil {
		return t
	}
	t.do = func(ctx context.Context, c *call) (any, *result.Page, error) {
		in, err := decode[In](c)
		if err != nil {
			return nil, nil, err
		}
		out, err := do(ctx, in)
		return &out, nil, err
	}
	return t
}

// Preview is the data of a pending change that its person is shown: a struct with
// camelCase JSON names, mask tags on sensitive fields, and quote tags on free text
// (see [Quote]). Message is called after masking, so that the sentence contains no
// hidden value. It says in one or two lines what will change, for whom, from what
// to what, and whether that can be undone; it never repeats free text.
type Preview interface{ Message() Sentence }

// Steps are the two halves of a write. Preview runs every check and returns the
// preview and the precondition: the values that the person is shown. Apply makes
// the change; it runs after a second Preview, in the same transaction, and only
// when the precondition is unchanged. The output of Apply has a field `message`:
// the sentence that people read about the effect. Nothing, if there is one, answers a
// call at once that would change nothing, so that no one is asked about it.
type Steps[In any, P Preview, Pre, Out any] struct {
	Preview func(context.Context, In) (P, Pre, error)
	Apply   func(context.Context, In, Pre) (Out, error)
	Nothing func(In, P) (out Out, nothing bool)
}

// Write declares a change in two steps. Calling it changes nothing: it opens a
// confirmation, unless there is nothing to change, and only its owner's approval applies it. An input field named
// `reason` is kept in the audit. Texts of the input must show all that they hold
// (package plaintext); a field with the tag text:"lines" may have several lines.
func Write[In any, P Preview, Pre, Out any](s Spec, steps Steps[In, P, Pre, Out]) Tool {
	t := Tool{spec: s, kind: result.Write, input: reflect.TypeFor[In](), output: reflect.TypeFor[Out](), shown: reflect.TypeFor[P]()}
	if steps.Preview == nil || steps.Apply == nil {
		return t
	}
	t.preview = func(ctx context.Context, c *call) (previewed, error) {
		in, err := decode[In](c)
		if err != nil {
			return previewed{}, err
		}
		shown, precondition, err := steps.Preview(ctx, in)
		p := previewed{shown: shown, precondition: precondition}
		if err == nil && steps.Nothing != nil {
			if out, nothing := steps.Nothing(in, shown); nothing {
				p.nothing = &out
			}
		}
		return p, err
	}
	t.apply = func(ctx context.Context, c *call, p previewed) (any, error) {
		in, err := decode[In](c)
		if err != nil {
			return nil, err
		}
		out, err := steps.Apply(ctx, in, p.precondition.(Pre))
		return &out, err
	}
	return t
}
