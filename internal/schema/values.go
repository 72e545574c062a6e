package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

// maxText bounds one text of an input, in characters, where its schema has no
// larger limit.
const maxText = 4000

// normalize gives every number of an input the one spelling of its value (RFC
// 8785), so that 10.0 and 1e1 are the integer 10 to the schema, to the tool and
// to every digest. It reports the texts that no store could keep, by field.
func (s *Schema) normalize(values object) (wrong []misfit) {
	for name, value := range values {
		longest, limited := s.limits[name]
		if !limited {
			longest = maxText
		}
		value, remark := s.normalValue(value, longest)
		if remark != "" {
			wrong = append(wrong, misfit{Input: fault.Input{Field: clip(name), Wrong: remark}, top: clip(name), says: "The " + strings.ReplaceAll(clip(name), "_", " ") + " " + remark + "."})
		}
		values[name] = value
	}
	slices.SortFunc(wrong, func(a, b misfit) int { return cmp.Compare(a.Field, b.Field) })
	return wrong
}

// normalValue returns the normal form of a value, and what is wrong with it.
func (s *Schema) normalValue(value any, longest int) (normal any, remark string) {
	switch value := value.(type) {
	case json.Number:
		return strictjson.Normal(value), ""
	case string:
		return value, s.remarkOnText(value, longest)
	case []any:
		for i, item := range value {
			if value[i], remark = s.normalValue(item, longest); remark != "" {
				return value, remark
			}
		}
	case object:
		if wrong := s.normalize(value); len(wrong) > 0 {
			return value, wrong[0].Field + ": " + wrong[0].Wrong
		}
	}
	return value, ""
}

func (s *Schema) remarkOnText(text string, longest int) string {
	switch {
	case strings.Contains(text, "\x00"):
		return "contains a NUL character, which no text may contain"
	case !s.longTexts && len(text) > longest && utf8.RuneCountInString(text) > longest:
		return "must have at most " + characters(longest)
	}
	return ""
}

type object = map[string]any

// readObject reads one object of strict JSON. An absent input is an empty one.
func readObject(raw json.RawMessage) (object, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return object{}, nil
	}
	return strictjson.Object(raw)
}
