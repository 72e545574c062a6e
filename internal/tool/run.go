package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/deadline"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/envelope"
	"countersign.dev/internal/seal"
)

// MaxResult bounds the encoded data of one answer, in bytes.
const MaxResult = 1 << 20

// Options is what a runner needs besides tools. Server and Audit are required;
// Cursors is, when there are lists; Confirmations and Receipts are, when there are writes.
type Options struct {
	access.Policy               // the roles and classes of fields that the server's domain declares
	Server        string        // the server's name: hr, finance …
	Codes         []*fault.Code // the domain's own, for the schemas of answers; nil: answers may have any
	Dialect       Dialect       // nil: Envelope
	Cursors       *seal.Ring    // seals the cursors of lists
	// Invalid returns a server's own error for an input that is refused by its schema or
	// as [Odd], or nil for VALIDATION_ERROR. values are those of the input, as they were given. Nil: always
	// VALIDATION_ERROR.
	Invalid       func(ctx context.Context, values map[string]any, wrong []Violation) error
	Confirmations *confirm.Service
	Receipts      ReceiptStores
	Audit         audit.Sink
	FailClosed    bool // an answer whose event cannot be written is withheld
	// Observe counts a call: tool is empty when no tool has the name that was
	// asked for, outcome as [result.Outcome.Code] has it. Nil: nothing.
	Observe func(tool, outcome string, took time.Duration)
	Log     *slog.Logger     // nil: discarded
	Now     func() time.Time // nil: time.Now
}

// Violation is one thing that is wrong with an input.
type Violation = schema.Violation

// Runner runs a server's tools. It is safe for concurrent use and keeps no
// state of its own.
type Runner struct {
	opts   Options
	tools  []*mounted // sorted by name
	byName map[string]*mounted
}

// mounted is a tool with everything that is derived from its declaration once.
type mounted struct {
	Tool
	info      result.ToolInfo
	validator *validator
	reader    *reader // nil: the validator reads all inputs
	output    *plan
	shownPlan *plan
	quoted    []quotation
	message   []int // of the output's field of that name; nil: it has none
}

// admitted is a call that passed the checks, with the tool that it is of.
type admitted struct {
	call
	tool    *mounted
	limited deadline.Context // of the call
}

// NewRunner checks every declaration and reports all faults at once. A program
// with a faulty declaration must not start.
func NewRunner(tools []Tool, o Options) (*Runner, error) {
	if o.Dialect == nil {
		o.Dialect = Envelope{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Runner{opts: o, byName: make(map[string]*mounted, len(tools))}
	plans := &planner{policy: o.Policy}
	faults := []error{checkPolicy(o.Policy)}
	for _, t := range tools {
		m, err := mount(t, o, plans)
		if err == nil && r.byName[t.spec.Name] != nil {
			err = errors.New("is declared twice")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("tool %s: %w", t.spec.Name, err))
			continue
		}
		r.byName[t.spec.Name] = m
		r.tools = append(r.tools, m)
	}
	slices.SortFunc(r.tools, func(a, b *mounted) int { return cmp.Compare(a.spec.Name, b.spec.Name) })
	return r, errors.Join(faults...)
}

func mount(t Tool, o Options, plans *planner) (*mounted, error) {
	if err := t.check(o); err != nil {
		return nil, err
	}
	m := &mounted{Tool: t, message: messageIn(structIn(t.output))}
	input, err := inputSchema(t)
	if err != nil {
		return nil, err
	}
	if m.validator, err = newValidator(input, t.input); err != nil {
		return nil, err
	}
	for name := range pageInputs(t) {
		delete(m.validator.defaults, name) // the window knows them, and whether one was given
	}
	m.reader = newReader(t, m.validator)
	data, definitions, err := dataSchema(t)
	if err != nil {
		return nil, err
	}
	if m.output, err = plans.plan(t.output); err != nil {
		return nil, err
	}
	if t.shown != nil {
		if m.shownPlan, err = plans.plan(t.shown); err != nil {
			return nil, err
		}
	}
	if m.quoted, err = quotedFields(t.shown); err != nil {
		return nil, err
	}
	m.info = result.ToolInfo{
		Name: t.spec.Name, Title: t.spec.Title, Description: t.spec.Description, Kind: t.kind,
		Roles: roleNames(t.spec.Allow), Annotations: annotations(t), Untrusted: t.spec.Untrusted,
	}
	if slices.ContainsFunc(m.quoted, quotation.ofRow) {
		m.info.Untrusted = append(slices.Clip(m.info.Untrusted), keyQuotes)
	}
	if m.info.Fields, err = metadata(t, o.Policy); err != nil {
		return nil, err
	}
	if m.info.InputSchema, err = json.Marshal(input); err != nil {
		return nil, err
	}
	m.info.OutputSchema, err = json.Marshal(o.Dialect.Schema(envelope.Described{
		Tool: t.spec.Name, Server: o.Server, Kind: t.kind, Data: data, Definitions: definitions, Codes: codeNames(o.Codes),
	}))
	return m, err
}

// codeNames are the names of the codes that a tool of a domain may answer with:
// the shared ones and the domain's own, sorted.
func codeNames(own []*fault.Code) (names []string) {
	if own == nil {
		return nil
	}
	return fault.Names(slices.Concat(fault.Shared(), own))
}

// checkPolicy refuses a class that is declared twice, has no name, or is visible
// to a principal without any relation to the row.
func checkPolicy(p access.Policy) error {
	var faults []error
	for i, c := range p.Classes {
		if c.Name == "" || slices.ContainsFunc(p.Classes[:i], func(d access.Class) bool { return d.Name == c.Name }) {
			faults = append(faults, fmt.Errorf("the class of fields %q has no name or is declared twice", c.Name))
		}
		if slices.Contains(c.Relations, access.Other) {
			faults = append(faults, fmt.Errorf("the class of fields %q is visible without a relation", c.Name))
		}
	}
	return errors.Join(faults...)
}

// check returns what a declaration lacks.
func (t Tool) check(o Options) error {
	var faults []error
	need := func(ok bool, what string) {
		if !ok {
			faults = append(faults, errors.New(what))
		}
	}
	need(toolName.MatchString(t.spec.Name), "needs a name of small letters, digits and underscores, 64 at most")
	need(t.spec.Title != "" && t.spec.Description != "", "needs a title and a description")
	need(!strings.Contains(t.spec.Noun+t.spec.Narrow, "_"), "has the name of an input in its noun, or in what narrows it: people read both")
	need(len(t.spec.Allow) > 0, "allows no role")
	for _, role := range t.spec.Allow {
		need(o.Declares(role), "allows "+string(role)+", a role that the domain does not declare")
	}
	need(t.input.Kind() == reflect.Struct, "needs a struct as input")
	need(structIn(t.output) != nil && t.output.Kind() != reflect.Slice, "needs a struct as output; rows are for lists")
	need(t.output != reflect.TypeFor[result.Envelope](), "must not build an envelope itself")
	need(o.Audit != nil, "needs an audit sink")
	for _, name := range t.spec.Untrusted {
		need(shows(t.output, name) || shows(t.shown, name), "calls "+name+" untrusted, which it does not return")
	}
	need(!t.spec.Replaces || t.kind == result.Edit, "replaces what is there, and is no edit")
	switch t.kind {
	case result.Write:
		need(t.preview != nil && t.apply != nil, "needs a preview and an apply")
		need(o.Confirmations != nil && o.Receipts != nil, "needs a confirmation service and a receipt store")
	case result.List:
		need(t.do != nil && t.spec.Noun != "", "needs a function and a noun for its rows")
		need(o.Cursors != nil || t.pager == offset, "needs a ring to seal cursors with")
	default:
		need(t.do != nil, "needs a function")
	}
	return errors.Join(faults...)
}

// Visible lists the tools that the principal may call, by name. A token of
// purpose catalogue sees all of them: the existence of a tool is not secret.
func (r *Runner) Visible(p *access.Principal) []result.ToolInfo {
	infos := make([]result.ToolInfo, 0, len(r.tools))
	for _, m := range r.tools {
		if p.Purpose() == access.PurposeCatalogue || p.HasAny(m.spec.Allow...) {
			infos = append(infos, m.info)
		}
	}
	return infos
}

// Encode writes an outcome in the server's dialect.
func (r *Runner) Encode(o result.Outcome) json.RawMessage { return r.opts.Dialect.Encode(o) }

func (r *Runner) now() time.Time { return r.opts.Now() }

// Call runs one tool for the principal in the context. It keeps raw, which must not
// change. It makes all checks, for all surfaces, in this order: principal, tool, role,
// input, deadline. Then a write is previewed and waits for its person's approval; anything
// else runs, is masked, limited in size and audited.
func (r *Runner) Call(ctx context.Context, name string, raw json.RawMessage) result.Outcome {
	started := r.now()
	o := r.call(ctx, name, raw, started)
	if r.opts.Observe != nil {
		if r.byName[name] == nil {
			name = ""
		}
		r.opts.Observe(name, o.Code(), r.now().Sub(started))
	}
	return o
}

func (r *Runner) call(ctx context.Context, name string, raw json.RawMessage, started time.Time) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	c, err := r.admit(ctx, who, name, raw)
	if err != nil {
		failed := result.Failed(err)
		r.complete(ctx, failed.Fault(), name, nil)
		event := audit.Event{Kind: audit.Outcome, Tool: clip(name)}
		if failed.Fault().Kind() == fault.Forbidden { // its input was not looked at
			event.Row = r.named(name, raw)
		}
		return r.record(ctx, event, failed)
	}
	c.limited.Start(ctx, c.tool.timeout())
	defer c.limited.End()
	ctx = &c.limited
	event := audit.Event{Kind: audit.Outcome, Tool: name, Digest: confirm.Digest(c.input), Row: c.rows}
	if err := r.recordIntent(ctx, c, event); err != nil {
		return r.record(ctx, event, result.Failed(err))
	}
	outcome := c.ended(ctx, r.runSafely(ctx, c))
	r.complete(ctx, outcome.Fault(), name, c.input)
	event.DurationMS = r.now().Sub(started).Milliseconds()
	return r.record(ctx, event, outcome)
}

// named is the ids that a call named which was refused for a role. They are of an input that the tool would
// take: what was typed into a field of another shape may be a secret.
func (r *Runner) named(name string, raw json.RawMessage) string {
	m := r.byName[name]
	if m == nil {
		return ""
	}
	values, err := m.validator.check(raw)
	if err != nil {
		return ""
	}
	return rowid.In(values)
}

// admit checks the tool, the role and the input of a call.
func (r *Runner) admit(ctx context.Context, who *access.Principal, name string, raw json.RawMessage) (*admitted, error) {
	m := r.byName[name]
	if m == nil {
		return nil, fault.UnknownTool.New("There is no tool named %q here.", clip(name)).With("tool", clip(name))
	}
	if !who.HasAny(m.spec.Allow...) {
		return nil, r.insufficient(m, who)
	}
	c := &admitted{call: call{spec: &m.spec, who: who, cursors: r.opts.Cursors, now: r.opts.Now}, tool: m}
	var usual bool
	if c.given, usual = m.reader.read(raw); usual {
		return c, nil
	}
	values, err := m.validator.check(raw)
	if err != nil {
		return nil, r.invalid(ctx, err, func() (object, []Violation) { return m.validator.schema.Violations(raw) })
	}
	if odd, err := m.checkTexts(values); err != nil {
		return nil, r.invalid(ctx, err, func() (object, []Violation) { return values, odd })
	}
	c.rows = rowid.In(values)
	if err := c.splitWindow(values); err != nil {
		return nil, err
	}
	c.input, err = json.Marshal(values) // sorted keys: the canonical form
	return c, err
}

// invalid is the error of an input that is refused: the server's own, or err.
func (r *Runner) invalid(ctx context.Context, err error, why func() (object, []Violation)) error {
	if r.opts.Invalid == nil {
		return err
	}
	values, wrong := why()
	if values == nil {
		return err // it is no object
	}
	return cmp.Or(r.opts.Invalid(ctx, values, wrong), err)
}

// insufficient is the fault of a missing role. It says what was refused, who may,
// and what the caller can see instead.
func (r *Runner) insufficient(m *mounted, who *access.Principal) error {
	names := roleNames(m.spec.Allow)
	f := fault.Insufficient.New("%s", m.info.Refusal())
	f.Suggest("Ask someone who has one of these roles (%s), or your administrator if you need it yourself.%s", fault.List(names, ", "), r.instead(m, who))
	return who.Lacks(f, names...)
}

// instead offers what the caller may see of what was refused: another tool for
// the same rows, of which some are their own.
func (r *Runner) instead(refused *mounted, who *access.Principal) string {
	for _, m := range r.tools {
		if m.spec.Own != "" && m.about() == refused.about() && who.HasAny(m.spec.Allow...) {
			return " You can see " + m.spec.Own + "."
		}
	}
	return ""
}

// about is the kind of row that a tool is about.
func (m *mounted) about() reflect.Type { return structIn(m.Tool.output) }

// splitWindow moves the page inputs from the values to the window, so that a
// cursor is bound to the filters only.
func (c *admitted) splitWindow(values object) error {
	if c.tool.pager == noPages {
		return nil
	}
	page := object{}
	for name := range pageInputs(c.tool.Tool) {
		if value, given := values[name]; given {
			page[name] = value
			delete(values, name)
		}
	}
	encoded, err := json.Marshal(page)
	if err != nil {
		return err
	}
	if err := into(encoded, &c.window); err != nil || c.window.Limit > 0 {
		return err
	}
	c.window.Limit, c.window.unlimited = c.tool.usual(), true
	return nil
}

func (m *mounted) timeout() time.Duration {
	if m.kind == result.Write {
		return WriteTimeout
	}
	return ReadTimeout
}

// recordIntent audits a change before it is previewed or made. If that fails, the
// change is refused.
func (r *Runner) recordIntent(ctx context.Context, c *admitted, event audit.Event) error {
	if c.tool.kind != result.Write && c.tool.kind != result.Edit {
		return nil
	}
	event.Kind, event.Server, event.Note = audit.Intent, r.opts.Server, c.reason()
	if err := r.opts.Audit.Append(ctx, event); err != nil {
		return endedOr(ctx, unrecorded(err))
	}
	return nil
}

func unrecorded(err error) error {
	return fault.ServiceDown.New("The change was refused because it could not be recorded.").Because(unwritten{err})
}

// unwritten is why an event is not in the record.
type unwritten struct{ error }

// Unwrap lets errors.Is and errors.As see the cause.
func (u unwritten) Unwrap() error { return u.error }

// runSafely runs the tool and turns a panic into a fault: a bad call must not end
// the process.
func (r *Runner) runSafely(ctx context.Context, c *admitted) (o result.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = result.Failed(fault.Panic(c.spec.Name, p))
		}
	}()
	if c.tool.kind == result.Write {
		return r.open(ctx, c)
	}
	data, page, err := c.tool.do(ctx, &c.call)
	if err != nil {
		return result.Failed(endedOr(ctx, err))
	}
	return c.succeeded(data, page)
}

func (c *admitted) succeeded(data any, page *result.Page) result.Outcome {
	encoded, err := c.encode(data)
	if err != nil {
		return result.Failed(err)
	}
	return result.Success(encoded, page, c.tool.messageOf(data))
}

// ended decides whether a call is answered or was cancelled: that is recorded next, and its
// client's edge goes by it. A cancellation that comes later crosses the answer. A change that
// waits was decided on when it was opened, and an edit was made.
func (c *admitted) ended(ctx context.Context, o result.Outcome) result.Outcome {
	if errors.Is(ctx.Err(), context.Canceled) && o.Data() != nil && c.tool.kind != result.Edit {
		return result.Failed(ctx.Err())
	}
	return o
}

// endedOr returns the context's error when the store reports the end of the
// context as something else: a deadline as a failure of its own, a caller that
// cancelled as a timeout.
func endedOr(ctx context.Context, err error) error {
	kind := fault.From(err).Kind()
	cancelled := errors.Is(ctx.Err(), context.Canceled) && kind == fault.Unavailable
	if cancelled || ctx.Err() != nil && kind == fault.Internal {
		return ctx.Err()
	}
	return err
}

// encode masks data for the caller, encodes it and checks its size. data is a
// pointer.
func (c *admitted) encode(data any) (json.RawMessage, error) {
	if c.tool.output != nil {
		c.tool.output.apply(c.who, reflect.ValueOf(data))
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	if len(encoded) > MaxResult {
		return nil, fault.OperationFailed.New("The answer would be larger than %d bytes.", MaxResult).Suggest("Narrow the request or ask for fewer rows.")
	}
	return encoded, nil
}

// record audits and logs the outcome of a call. A read whose event cannot be
// written is answered, unless the options say otherwise; the intent of a change
// was audited before. The end of the call does not end this: a call that its caller
// cancelled is recorded as such.
func (r *Runner) record(ctx context.Context, event audit.Event, o result.Outcome) result.Outcome {
	event.Server, event.Outcome, event.Rows, event.Shown = r.opts.Server, o.Code(), o.Rows(), rowid.Fingerprints(o.Data())
	if o.Fault() != nil && o.Fault().Kind() == fault.Forbidden {
		event.Kind = audit.Denial
	}
	var own deadline.Context
	own.Start(context.WithoutCancel(ctx), recordTimeout)
	defer own.End()
	err := r.opts.Audit.Append(&own, event)
	if err != nil {
		r.opts.Log.ErrorContext(ctx, "audit event not written", "tool", event.Tool, "outcome", event.Outcome, "error", fault.From(err).Logged())
		if r.opts.FailClosed && o.Fault() == nil {
			o = result.Failed(fault.ServiceDown.New("The answer was withheld because it could not be recorded.").Because(unwritten{err}))
		}
	}
	var known unwritten
	if err == nil || o.Fault() == nil || !errors.As(o.Fault(), &known) { // else the cause is in the log already
		r.logFailure(ctx, event.Tool, o.Fault())
	}
	return o
}

// logFailure logs a failure of ours with its id and cause, and a call that its
// caller cancelled. The caller's own mistakes are not logged.
func (r *Runner) logFailure(ctx context.Context, tool string, f *fault.Error) {
	switch {
	case f == nil || f.Kind() != fault.Internal && f.Kind() != fault.Unavailable:
		return
	case f.Code == fault.Cancelled:
		r.opts.Log.InfoContext(ctx, "tool call cancelled", "tool", tool)
		return
	}
	about := []any{"tool", tool, "code", f.Code.Name, "error", f.Logged()}
	if f.ID != "" { // the log's own request_id is there in any case
		about = append(about, "fault_id", f.ID)
	}
	level := slog.LevelError
	if f.Kind() == fault.Unavailable && errors.Unwrap(f) == nil {
		level = slog.LevelWarn // a state that the tool knows of, such as that nothing is configured
	}
	r.opts.Log.Log(ctx, level, "tool call failed", about...)
}

// open previews a write and opens a confirmation.
func (r *Runner) open(ctx context.Context, c *admitted) result.Outcome {
	p, err := c.tool.preview(ctx, &c.call)
	if err != nil {
		return result.Failed(endedOr(ctx, err))
	}
	if p.nothing != nil {
		return c.succeeded(p.nothing, nil)
	}
	shown, message, err := c.show(p.shown)
	if err != nil {
		return result.Failed(err)
	}
	precondition, err := preconditionDigest(p.precondition)
	if err != nil {
		return result.Failed(err)
	}
	maps.Copy(shown, confirm.Head(c.spec.Name, r.opts.Server, c.who, r.now()))
	id := confirm.NewID()
	if err := r.opts.Receipts.Assign(ctx, id, c.input); err != nil {
		return result.Failed(endedOr(ctx, err))
	}
	record, err := r.opts.Confirmations.Open(ctx, c.who, confirm.Request{
		ID: id, Action: c.spec.Name, Server: r.opts.Server, Input: c.input, Digest: confirm.Digest(c.input),
		Precondition: precondition, Summary: message, Data: shown, Note: c.reason(),
	})
	if err != nil {
		return result.Failed(err)
	}
	return result.Waiting(record.Pending())
}

// reason is the reason that the person gave for a change.
func (c *call) reason() string {
	var in struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(c.input, &in) // the input was validated; a reason of another type is none
	return in.Reason
}
