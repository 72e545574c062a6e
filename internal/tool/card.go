package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// A card has a sentence, facts, and quotations. Free text is never a part of the
// sentence: the field of a preview that holds it has a tag,
//
//	Reason  string `json:"reason" quote:"assistant" empty:"No reason provided"`
//	Subject string `json:"subject" quote:"ticketId"`
//
// and the card shows it as a quotation with its author: the writer of the call, or
// the row that another field names. The fact itself keeps its documented name.

// byAssistant is the tag of a text that came with the call.
const byAssistant = "assistant"

// maxRowQuote is how many characters of a row's text a card quotes. A text that
// came with the call is bounded by its schema and quoted whole.
const maxRowQuote = 2000

// Quote is free text on a card.
type Quote struct {
	Field  string `json:"field"`  // of confirmationData
	Author string `json:"author"` // as writerOn has it, or "text of TICK-009"
	Text   string `json:"text"`
}

// keyQuotes is the key of the quotations in confirmationData.
const keyQuotes = "quotes"

// quotation is a field of a preview that holds free text.
type quotation struct {
	field string
	by    string // byAssistant, or the field that names the row
	empty string // shown when there is no text
}

// ofRow reports whether the text is a row's, which other people wrote.
func (q quotation) ofRow() bool { return q.by != byAssistant }

// quotedFields reads the tags of a preview.
func quotedFields(shown reflect.Type) (all []quotation, err error) {
	if shown == nil {
		return nil, nil
	}
	named := map[string]bool{byAssistant: true}
	for field := range fields(structIn(shown)) {
		named[jsonName(field)] = true
	}
	for field := range fields(structIn(shown)) {
		by, ok := field.Tag.Lookup("quote")
		if !ok {
			continue
		}
		if field.Type.Kind() != reflect.String || !named[by] {
			return nil, fmt.Errorf("%s: a quotation is a string, and its author the assistant or another field", field.Name)
		}
		all = append(all, quotation{jsonName(field), by, field.Tag.Get("empty")})
	}
	if named[keyQuotes] || named[result.KeyProvenance] {
		return nil, errors.New("the fields quotes and origin belong to the kernel")
	}
	return all, nil
}

// show masks a preview for the caller, and escapes invisible characters in its fields
// and quotations.
func (c *admitted) show(p Preview) (fields object, message string, err error) {
	v := reflect.New(c.tool.shown)
	v.Elem().Set(reflect.ValueOf(p))
	if c.tool.shownPlan != nil {
		c.tool.shownPlan.apply(c.who, v)
	}
	encoded, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, "", fmt.Errorf("a preview must be a JSON object: %w", err)
	}
	isQuoted := func(name string) bool {
		return slices.ContainsFunc(c.tool.quoted, func(q quotation) bool { return q.field == name })
	}
	for name, value := range fields {
		fields[name] = plaintext.EscapeValue(value, isQuoted(name))
	}
	c.tool.quote(fields, writerOn(c.who.Provenance().Surface))
	return fields, v.Elem().Interface().(Preview).Message().String(), nil
}

// writerOn says who wrote the texts that come with a call on a surface, as far as
// that is known.
func writerOn(s access.Surface) string {
	switch s {
	case access.SurfaceChat, access.SurfaceTerminal, access.SurfaceMCP:
		return "written by the assistant"
	case access.SurfaceAPI:
		return "written by the person who asked"
	}
	return "sent with the request"
}

// quote adds the quotations of the fields; writer is the author of those that came
// with the call.
func (m *mounted) quote(fields object, writer string) {
	var quotes []Quote
	for _, q := range m.quoted {
		text, _ := fields[q.field].(string)
		switch {
		case text == "" && q.empty != "":
			fields[q.field] = q.empty
		case text == "":
		case !q.ofRow():
			quotes = append(quotes, Quote{q.field, writer, text})
		default:
			row, _ := fields[q.by].(string)
			text = plaintext.Clip(text, maxRowQuote)
			fields[q.field] = text
			quotes = append(quotes, Quote{q.field, "text of " + nameUnless(oneWord, row), text})
		}
	}
	if quotes != nil {
		fields[keyQuotes] = quotes
	}
}

// Odd is the keyword of a violation that is a text which shows less than it holds.
const Odd = "odd"

// checkTexts rejects an input that changes something and whose texts show less than
// they hold: people read them before they approve, and later in what is stored.
func (m *mounted) checkTexts(values object) (odd []schema.Violation, err error) {
	if m.kind != result.Write && m.kind != result.Edit {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := plaintext.CheckValue(name, values[name], m.validator.lines[name]); err != nil {
			odd = []schema.Violation{{Field: name, Keyword: Odd, Value: values[name]}}
			return odd, fault.WrongInputs(fault.Input{Field: name, Wrong: "has characters that cannot be seen"}).Tell("A text has characters that cannot be seen. Leave them out.").Instruct("%s", err).Fields(name)
		}
	}
	return nil, nil
}

func preconditionDigest(precondition any) (string, error) {
	encoded, err := json.Marshal(precondition)
	if err != nil {
		return "", err
	}
	return confirm.Digest(encoded), nil
}
