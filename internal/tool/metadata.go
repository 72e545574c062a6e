package tool

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
)

// Metadata is declared in the struct tag `field` of a field of an input, an output
// or a preview:
//
//	field:"label=Name,aka=boss|superior,unit=USD,show=year,amount,aka.draft=waiting for approval"
//
// aka lists synonyms of the field, aka.VALUE synonyms of one of its values (of a
// column also of its negative, zero or positive numbers, and of none; of a day, of today), and
// from=list_deals:_id names the tool and the field that its values come from,
// like=TICK-004 shows an id, all=* is the search for everything, and self says
// that without the id the answer is about the person who asks.

// metadata collects the metadata of a tool's fields; nil when none is declared.
func metadata(t Tool, policy access.Policy) (*result.Fields, error) {
	m := &result.Fields{Synonyms: t.spec.Synonyms, Ask: t.spec.Ask, AskOf: t.spec.AskOf, Noun: t.spec.Noun, Lacks: t.spec.Lacks}
	for _, l := range m.Lacks {
		if _, err := regexp.Compile(l.Said); err != nil {
			return nil, fmt.Errorf("lack %q: %w", l.Tell, err)
		}
	}
	var err error
	if m.Input, err = described(t.input, policy); err != nil {
		return nil, err
	}
	if m.Output, err = described(t.output, policy); err != nil {
		return nil, err
	}
	if m.Preview, err = described(t.shown, policy); err != nil {
		return nil, err
	}
	if len(m.Ask)+len(m.AskOf)+len(m.Noun)+len(m.Lacks)+len(m.Synonyms)+len(m.Input)+len(m.Output)+len(m.Preview) == 0 {
		return nil, nil
	}
	return m, nil
}

func described(t reflect.Type, policy access.Policy) (map[string]result.Field, error) {
	if t == nil { // a tool without a preview
		return nil, nil
	}
	found := map[string]result.Field{}
	if err := (describer{policy, found}).describe(t, nil); err != nil || len(found) == 0 {
		return nil, err
	}
	return found, nil
}

// describer collects what the tags of fields say.
type describer struct {
	policy access.Policy
	found  map[string]result.Field
}

// describe reads the tags of a type and of the types inside it. Of two fields
// with the same name the outer one is used.
func (d describer) describe(t reflect.Type, above []reflect.Type) error {
	inside := structIn(t)
	if slices.Contains(above, inside) {
		return nil
	}
	var nested []reflect.Type
	for field := range fields(inside) {
		if err := d.add(field); err != nil {
			return fmt.Errorf("field %s: %w", jsonName(field), err)
		}
		nested = append(nested, field.Type)
	}
	for _, child := range nested {
		if err := d.describe(child, append(above, inside)); err != nil {
			return err
		}
	}
	return nil
}

func (d describer) add(field reflect.StructField) error {
	tag, class := field.Tag.Get("field"), field.Tag.Get("mask")
	suggest, tell := field.Tag.Get("suggest"), field.Tag.Get("tell")
	if _, taken := d.found[jsonName(field)]; taken || tag+class+suggest+tell == "" {
		return nil
	}
	var one result.Field
	if tag != "" {
		var err error
		if one, err = parseField(tag); err != nil {
			return err
		}
	}
	one.Suggest, one.Tell = suggest, tell
	name, _, _ := strings.Cut(class, ",")
	if c, declared := d.policy.Class(name); declared {
		one.Roles = d.policy.ShownTo(c)
	}
	d.found[jsonName(field)] = one
	return nil
}

func parseField(tag string) (f result.Field, err error) {
	for part := range strings.SplitSeq(tag, ",") {
		key, text, _ := strings.Cut(part, "=")
		value, isValue := strings.CutPrefix(key, "aka.")
		switch {
		case key == "label":
			f.Label = text
		case key == "unit":
			f.Unit = text
		case key == "from":
			f.From = text
		case key == "like":
			f.Like = text
		case key == "all":
			f.All = text
		case key == "self":
			f.Self = true
		case key == "amount":
			f.Amount = true
		case key == "aka":
			f.Synonyms = strings.Split(text, "|")
		case key == "show" && slices.Contains(result.Shows(), text):
			f.Show = text
		case isValue:
			if f.Values == nil {
				f.Values = map[string][]string{}
			}
			f.Values[value] = strings.Split(text, "|")
		default:
			return f, fmt.Errorf("its field tag has %q", part)
		}
	}
	return f, nil
}
