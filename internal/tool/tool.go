package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
)

// Spec is the declared part of a tool.
type Spec struct {
	Name        string        // verb_noun; unique on its server
	Title       string        // for people, in lists of tools
	Description string        // what it returns and when to use it; models choose tools by it
	Allow       []access.Role // who may call it; never empty
	Noun        string        // lists: what the rows are, "employees"
	Narrow      string        // lists: which filters make the list shorter, "department or name"
	Synonyms    []string      // other words for what it does or is about; never shown to a model
	Untrusted   []string      // result fields whose text nobody vouches for
	Timeout     time.Duration // default 5 s, writes 10 s
}

// The default deadlines of a call.
const (
	ReadTimeout  = 5 * time.Second
	WriteTimeout = 10 * time.Second
)

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

// Spec returns the declaration.
func (t Tool) Spec() Spec { return t.spec }

// Kind returns the tool's kind.
func (t Tool) Kind() result.Kind { return t.kind }

// call is one validated call on its way through the pipeline.
type call struct {
	tool   *mounted
	who    *access.Principal
	input  json.RawMessage // validated, canonical, defaults filled in
	window windowInput     // lists only
	runner *Runner
}

// preview is what a write would do, before it is done.
type previewed struct {
	shown        Preview
	precondition any
}

// decode reads the validated input into the tool's own type.
func decode[In any](c *call) (in In, err error) {
	err = json.Unmarshal(c.input, &in)
	return in, err
}

// Read declares a tool that shows one thing. do runs on a read-only handle.
func Read[In, Out any](s Spec, do func(context.Context, In) (Out, error)) Tool {
	return immediate(s, result.Read, do)
}

// Edit declares an immediate change that its caller can undo and that touches
// only their own workspace. Its intent is audited before it runs. Company data
// is never changed by an Edit: that is what [Write] is for.
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

// Card is what an approval card shows: a struct with camelCase JSON names, and
// mask tags where its fields are sensitive. Message is asked after masking, so
// that the sentence can leak nothing that the card hides. It says in one or two
// lines what will change, for whom, from what to what, and whether that can be
// undone.
type Preview interface{ Message() string }

// Steps are the two halves of a write. Preview runs every check and returns the
// card and the facts that the person is shown. Apply makes the change; it runs
// after a second Preview, in the same transaction, and only when the facts are
// still the same. The output of Apply has a field `message`: the sentence that
// people are told.
type Steps[In any, C Preview, F, Out any] struct {
	Preview func(context.Context, In) (C, F, error)
	Apply   func(context.Context, In, F) (Out, error)
}

// Write declares a change in two steps. Calling it changes nothing: it opens a
// confirmation, and only its owner's approval applies it. An input field named
// `reason` is kept in the audit.
func Write[In any, C Preview, F, Out any](s Spec, steps Steps[In, C, F, Out]) Tool {
	t := Tool{spec: s, kind: result.Write, input: reflect.TypeFor[In](), output: reflect.TypeFor[Out](), shown: reflect.TypeFor[C]()}
	if steps.Preview == nil || steps.Apply == nil {
		return t
	}
	t.preview = func(ctx context.Context, c *call) (previewed, error) {
		in, err := decode[In](c)
		if err != nil {
			return previewed{}, err
		}
		card, facts, err := steps.Preview(ctx, in)
		return previewed{shown: card, precondition: facts}, err
	}
	t.apply = func(ctx context.Context, c *call, p previewed) (any, error) {
		in, err := decode[In](c)
		if err != nil {
			return nil, err
		}
		out, err := steps.Apply(ctx, in, p.precondition.(F))
		return &out, err
	}
	return t
}
