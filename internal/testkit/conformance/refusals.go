package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Refusal is a call that must fail.
type Refusal struct {
	code, username, tool string
	in                   Args
}

// Refuse is a call, by a person of the sample company, that must fail with that
// code.
func Refuse(code, username, tool string, in Args) Refusal { return Refusal{code, username, tool, in} }

// internals are words of stores and drivers that no answer may hold.
var internals = []string{"SQL", "127.0.0.1", "mongo", "pgx", "http:", "_index", "panic", "goroutine"}

// spelled matches what programs write and people do not: long ids, moments and codes.
var spelled = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-|\b[0-9a-f]{24}\b|\d{2}T\d{2}:\d{2}|\b[A-Z]+_[A-Z]+\b`)

// toolWords matches names of tools and inputs. Messages are for people, suggested
// actions for models.
var toolWords = regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)

// requestWords are of requests that programs make.
var requestWords = []string{"Call ", "call again", "cursor", "tool", "field", "parameter", "input", "JSON", "argument"}

// refusals makes every call that must fail. Each of the domain's codes is among
// them, and every refusal says what to do next.
func (s *suite) refusals(t *testing.T) {
	h := s.unchanged
	raised := map[string]bool{}
	for _, r := range s.Refusals {
		o := h.Ask(h.As(r.username), r.tool, r.in)
		if o.Code() != r.code {
			t.Errorf("%s calls %s %.200v: got %s, want %s", r.username, r.tool, r.in, h.Encode(o), r.code)
			continue
		}
		raised[r.code] = true
		if o.Fault() == nil {
			continue // the nearest call that does not fail
		}
		if o.Fault().SuggestedAction == "" || holds(o.Fault().Message, internals) || toolWords.MatchString(o.Fault().Message) {
			t.Errorf("%s: %q, %q", r.code, o.Fault().Message, o.Fault().SuggestedAction)
		}
		message, advice := o.Fault().ForPeople()
		if toolWords.MatchString(message+advice) || holds(message+advice, requestWords) || spelled.MatchString(message+advice) {
			t.Errorf("%s: a person reads %q %q", r.code, message, advice)
		}
		s.namesItsSubject(t, r, o.Fault())
		s.canBeFollowed(t, r, o.Fault())
	}
	declared := map[string]bool{}
	for _, code := range s.Codes {
		if !raised[code.Name] {
			t.Errorf("no refusal raises %s", code.Name)
		}
		if declared[code.Name] || code.Meaning == "" || code.Suggestion() == "" {
			t.Errorf("%s is declared twice, or without its meaning or next step", code.Name)
		}
		if len(code.Subject)+len(code.Details) == 0 {
			t.Errorf("%s does not declare what it is about", code.Name)
		}
		declared[code.Name] = true
	}
}

// canBeFollowed: what a refusal advises is open to the one who reads it, and it is
// short enough to be read.
func (s *suite) canBeFollowed(t *testing.T, r Refusal, f *fault.Error) {
	t.Helper()
	who, err := access.From(s.unchanged.As(r.username))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range toolWords.FindAllString(f.SuggestedAction, -1) {
		called := func(info result.ToolInfo) bool { return info.Name == word }
		named := slices.ContainsFunc(s.unchanged.all(), called)
		if named && !slices.ContainsFunc(s.unchanged.Visible(who), called) && !strings.Contains(f.SuggestedAction, word+" is for the roles") {
			t.Errorf("%s: %s may not call %s: %q", r.code, r.username, word, f.SuggestedAction)
		}
	}
	if len(f.Message) > fault.MaxMessage || len(f.SuggestedAction) > fault.MaxMessage {
		t.Errorf("%s is too long: %q, %q", r.code, f.Message, f.SuggestedAction)
	}
}

// namesItsSubject compares a fault's details with the inputs that its code declares
// as its subject, and with what else it declares.
func (s *suite) namesItsSubject(t *testing.T, r Refusal, f *fault.Error) {
	t.Helper()
	declared := slices.Clone(f.Code.Details)
	if f.Kind() == fault.Unavailable {
		declared = append(declared, "operation")
	}
	for _, field := range f.Code.Subject {
		declared = append(declared, result.Camel(field))
	}
	for key := range f.Details {
		if !slices.Contains(declared, key) {
			t.Errorf("%s has a detail %q that its code does not declare", r.code, key)
		}
	}
	if len(declared) > 0 && len(f.Details) == 0 {
		t.Errorf("%s calls %s %v: %s has no details, want some of %v", r.username, r.tool, r.in, r.code, declared)
	}
	for _, code := range s.Codes {
		for _, field := range code.Subject {
			given, named := r.in[field], f.Details[result.Camel(field)]
			if code.Name == f.Code.Name && given != nil && fmt.Sprint(named) != fmt.Sprint(given) {
				t.Errorf("%s calls %s %v: details are %v, want %s", r.username, r.tool, r.in, f.Details, field)
			}
		}
	}
}

func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// property is an input field as its schema declares it.
type property struct {
	Type    string
	OneOf   []property // a field that may be null, and the like
	Format  string
	Enum    []any
	Minimum float64
	Maximum int
}

// takes reports whether the schema allows values of that type.
func (p property) takes(kind string) bool {
	return p.Type == kind || kind == "integer" && p.Type == "number" || slices.ContainsFunc(p.OneOf, func(one property) bool { return one.takes(kind) })
}

// samples are values of every type.
var samples = []struct {
	kind  string
	value any
}{
	{"object", map[string]any{"$ne": ""}}, {"object", map[string]any{"$gt": 0}}, {"array", []any{"a"}}, {"array", []any{}}, {"null", nil},
	{"string", "5"}, {"integer", 5}, {"number", 1.5}, {"boolean", true},
}

// wrong returns the code that a wrong value of a field gets.
func (s *suite) wrong(tool, field string, value any) string {
	if s.Wrong == nil {
		return "VALIDATION_ERROR"
	}
	return s.Wrong(tool, field, value)
}

func (h *harness) properties(tool string) map[string]property {
	h.Helper()
	var declared struct{ Properties map[string]property }
	if err := json.Unmarshal(h.info(tool).InputSchema, &declared); err != nil {
		h.Fatal(err)
	}
	return declared.Properties
}

// everyInput calls fn for every input field of every tool, with the tool's valid
// call.
func (s *suite) everyInput(h *harness, fn func(c Call, field string, p property)) {
	for _, c := range s.Calls {
		for field, p := range h.properties(c.Tool) {
			fn(c, field, p)
		}
	}
}

func (c Call) with(field string, value any) Args {
	in := maps.Clone(c.In)
	if in == nil {
		in = Args{}
	}
	in[field] = value
	return in
}

// spellings are texts of the formats and patterns that inputs have.
var spellings = []any{"a", "2026-01-31", "2026-01", "2026-Q1", "00000000-0000-4000-8000-000000000000", strings.Repeat("0", 24)}

// valid returns a call in which a field has a value that the tool's schema accepts: a
// repeated one is then refused for its repetition alone.
func (h *harness) valid(c Call, field string, p property) Args {
	h.Helper()
	accepts, err := schema.Compile(h.info(c.Tool).InputSchema, schema.Options{Formats: true})
	if err != nil {
		h.Fatal(err)
	}
	for _, value := range slices.Concat([]any{c.In[field]}, p.Enum, spellings, []any{p.Minimum, true, []any{}}) {
		in := c.with(field, value)
		encoded, _ := json.Marshal(in)
		if _, _, err := accepts.Check(encoded); value != nil && err == nil {
			return in
		}
	}
	h.Fatalf("%s: no value of %s is known that its schema accepts", c.Tool, field)
	return nil
}

// wrongTypes puts values of other types into every field, repeats fields and
// adds unknown ones.
func (s *suite) wrongTypes(t *testing.T) {
	h := s.unchanged
	everything := func(c Call) context.Context { return Asker{Email: c.Email, Roles: Roles()}.in(t.Context()) }
	refused := func(c Call, code string, in Args) {
		if o := h.Ask(everything(c), c.Tool, in); o.Code() != code {
			t.Errorf("%s %v: got %s, want %s", c.Tool, in, h.Encode(o), code)
		}
	}
	s.everyInput(h, func(c Call, field string, p property) {
		var wrong []any
		for _, sample := range samples {
			if !p.takes(sample.kind) {
				wrong = append(wrong, sample.value)
			}
		}
		if p.takes("integer") && !p.takes("number") {
			wrong = append(wrong, -1)
		}
		if p.Enum != nil {
			wrong = append(wrong, "none of them", "")
		}
		if p.Format == "date" {
			wrong = append(wrong, "2026-02-30", "' or 1=1", "tomorrow")
		}
		for _, value := range wrong {
			refused(c, s.wrong(c.Tool, field, value), c.with(field, value))
		}
		if field == "limit" {
			for _, value := range []int{0, p.Maximum + 1} {
				refused(c, s.wrong(c.Tool, field, value), c.with(field, value))
			}
		}
		if field == "cursor" {
			refused(c, "INVALID_CURSOR", c.with(field, "bm90IGEgY3Vyc29y"))
		}
		in := h.valid(c, field, p)
		once, _ := json.Marshal(in) // texts, numbers and lists
		again, _ := json.Marshal(Args{field: in[field]})
		twice := slices.Concat(again[:len(again)-1], []byte(","), once[1:])
		if o := h.Call(everything(c), c.Tool, twice); o.Code() != "VALIDATION_ERROR" {
			t.Errorf("%s %s: got %s", c.Tool, twice, h.Encode(o))
		}
	})
	for _, c := range s.Calls {
		for _, unknown := range []string{"team", "$where", "_index", "userContext2"} {
			refused(c, "VALIDATION_ERROR", c.with(unknown, "x"))
		}
	}
}

// Hostile are texts that would be syntax if they were pasted into a statement.
var Hostile = []string{
	`{"$ne": ""}`, `{"$gt":""}`, `$where`, `' or 1=1 --`, `"; drop table deals; --`, `'; drop table finance.invoices; --`, `*) OR _index:*`, `.*`, `^`, `%`, `_`, `\`, `\%`, `"`, `$1`,
	`$owner`, `$$ROOT`, `owner@example.org' union select * from deals --`, strings.Repeat("(", 200), strings.Repeat("[", 200), strings.Repeat("é", 200), "ﬀ", "ß", "\u202ecloud", "\x01", "cloud\x00", "\U0010ffff", "' or ''='",
}

// hostileTexts puts such texts into every field that takes text: they are values,
// that no row has. The store stays as it is.
func (s *suite) hostileTexts(t *testing.T) {
	h, changed := s.unchanged, s.open(t, Company)
	before := h.store.Dump()
	s.everyInput(h, func(c Call, field string, p property) {
		if !p.takes("string") || p.Enum != nil {
			return
		}
		h := h
		if s.changes(c.Tool) && slices.Contains(c.Text, field) {
			h = changed
		}
		for _, text := range Hostile {
			o := h.Ask(Asker{Email: c.Email, Roles: Roles()}.in(t.Context()), c.Tool, c.with(field, text))
			code := o.Code()
			switch {
			case code == "VALIDATION_ERROR", code == s.wrong(c.Tool, field, text), code == "INVALID_INPUT", code == "INVALID_CURSOR", strings.HasSuffix(code, "_NOT_FOUND"):
			case slices.Contains(c.Text, field) && (code == result.StatusSuccess || o.Pending() != nil):
			case s.changes(c.Tool) && o.Fault() != nil && o.Fault().Kind() == fault.Conflict: // the text before it is there
			case o.Page() != nil && string(o.Data()) == "[]":
			default:
				t.Errorf("%s, %s %q: got %s", c.Tool, field, text, h.Encode(o))
			}
			if o.Fault() != nil && holds(o.Fault().Message, internals[1:]) && !strings.Contains(o.Fault().Message, text) {
				t.Errorf("%s, %s %q: %s", c.Tool, field, text, o.Fault().Message)
			}
		}
	})
	for _, text := range Hostile { // and as the caller's own address
		for _, c := range s.Calls {
			o := h.Ask(Asker{Email: text, Roles: c.Allow[:1]}.in(t.Context()), c.Tool, c.In)
			if o.Code() == "INTERNAL_ERROR" || o.Code() == "DATABASE_ERROR" {
				t.Errorf("%q calls %s: got %s", text, c.Tool, h.Encode(o))
			}
		}
	}
	if h.store.Dump() != before {
		t.Error("something was changed")
	}
}
