package dialect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Invalid returns the document's error for an input that the schema refuses, or nil
// when none of its six is about it. Of several faults it returns the first in this
// order: pagination, mode, workspace, filters. findable checks a workspace that is given as a text.
func Invalid(values map[string]any, wrong []tool.Violation, findable func(path string) error) error {
	kept, wrong := uncleared(values, wrong)
	of := func(fields ...string) *tool.Violation {
		for i := range wrong {
			for _, field := range fields {
				if wrong[i].Field == field && wrong[i].Keyword != "additionalProperties" {
					return &wrong[i]
				}
			}
		}
		return nil
	}
	if v := of("limit", "offset"); v != nil {
		return pagination(v)
	}
	if v := of("mode"); v != nil {
		return record.ErrMode.New("The mode must be summary or details.").With("provided_mode", v.Value)
	}
	if v := of("workspace_path"); v != nil {
		reasons := map[string]string{"maxLength": "it is too long for a path", tool.Odd: "it has characters that do not show"}
		return record.Workspace(asSent(v.Value), cmp.Or(reasons[v.Keyword], "it must be a text"))
	}
	path, given := values["workspace_path"].(string)
	known := func(v tool.Violation) bool { return v.Keyword != "additionalProperties" }
	if given || len(kept) > 0 || slices.ContainsFunc(wrong, known) { // a tool that takes no workspace has unknown fields only
		if err := findable(path); err != nil {
			return err
		}
	}
	if v := of("status", "priority", "entity_type"); v != nil && v.Keyword != "required" {
		return filter(v)
	}
	if len(kept) > 0 {
		names := strings.Join(kept, ", ")
		return fault.ValidationError.New("%s cannot be cleared.", names).Instruct("%s: leave it out, or give a value", names).Fields(kept...)
	}
	return nil
}

// uncleared are the fields of an update that are null and that null does not clear, and
// what else is wrong.
func uncleared(values map[string]any, wrong []tool.Violation) (fields []string, rest []tool.Violation) {
	for _, v := range wrong {
		_, ofTask := values["task_id"]
		_, ofEntity := values["entity_id"]
		required := ofTask && slices.Contains([]string{"title", "status", "priority"}, v.Field) || ofEntity && v.Field == "name"
		if value, given := values[v.Field]; !required || !given || value != nil {
			rest = append(rest, v)
		} else if !slices.Contains(fields, v.Field) {
			fields = append(fields, v.Field)
		}
	}
	slices.Sort(fields) // the order of violations is the validator's
	return fields, rest
}

func pagination(v *tool.Violation) error {
	sentence := "The limit must be a whole number from 1 to 1,000."
	if v.Field == "offset" {
		sentence = "The offset must be a whole number, 0 or more."
	}
	return record.ErrPagination.New("%s", sentence).With(v.Field, v.Value)
}

// filter tells the valid values of a field.
func filter(v *tool.Violation) error {
	return NoFilter(v.Field, v.Value, map[string][]string{"status": record.Statuses(), "priority": record.Priorities(), "entity_type": record.EntityTypes()}[v.Field])
}

// NoFilter is INVALID_FILTER: a value of a filter that none of the valid ones is.
func NoFilter(name string, value any, valid []string) error {
	return record.ErrFilter.New("%q is no valid %s.", fault.Clip(asSent(value), 80), strings.ReplaceAll(name, "_", " ")).
		Suggest("It must be %s.", record.Spoken(valid)).Instruct("Valid are: %s.", strings.Join(valid, ", ")).
		With("filter_name", name).With("invalid_value", value).With("valid_values", valid)
}

// asSent returns a text as it is, and every other value as JSON.
func asSent(value any) string {
	if text, isText := value.(string); isText {
		return text
	}
	b, _ := json.Marshal(value) // it was read from JSON
	return string(b)
}
