package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/result"
)

// documented is a tool in document 003, sections 9.2 to 9.5.
type documented struct{ Input, Output schema }

// deviations are the differences between our schemas and document 003, each
// with the reason. One that is no longer needed fails.
var deviations = map[string]string{
	"approve_budget input amount required":         "left out, it is the amount that was submitted",
	"close_deal input deal_id pattern":             "an ObjectId is 24 hex digits; the document says so in words",
	"close_ticket input customer_notified default": "none, so that a card never claims a notification that no one mentioned",
	"delete_customer input customer_id pattern":    "an ObjectId is 24 hex digits; the document says so in words",
	"get_customer input customer_id pattern":       "an ObjectId is 24 hex digits; the document says so in words",

	"list_invoices input status enum":  "unpaid is added: an invoice that is not paid yet is pending or approved",
	"list_invoices output status enum": "overdue is never stored, and never answered: it is a field of its own",

	"get_budget output approved_by format":     "an e-mail address: finance keeps no employees and asks no other domain",
	"list_invoices output approved_by format":  "an e-mail address: finance keeps no employees and asks no other domain",
	"list_invoices output submitted_by format": "an e-mail address: finance keeps no employees and asks no other domain",
}

// TestSchemasMatchTheDocument compares key by key. Every key of the document must
// be there with the same value; inputs that we add are optional.
func TestSchemasMatchTheDocument(t *testing.T) {
	infos := map[string]result.ToolInfo{}
	for _, tools := range inventory(t) {
		for _, info := range tools {
			infos[info.Name] = info
		}
	}
	found := map[string]string{}
	for name, want := range documentedTools(t) {
		info, ok := infos[name]
		if !ok {
			t.Errorf("there is no tool %s", name)
			continue
		}
		compareInputs(found, name+" input", want.Input, parsed(t, info.InputSchema))
		if want.Output != nil {
			compareProperties(found, name+" output", want.Output, rowSchema(t, info))
		}
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if deviations[place] == "" {
			t.Errorf("%s: %s", place, found[place])
		}
	}
	for _, place := range slices.Sorted(maps.Keys(deviations)) {
		if found[place] == "" {
			t.Errorf("%s: the deviation is gone; delete its reason", place)
		}
	}
}

func documentedTools(t *testing.T) (all map[string]documented) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "document-003-schemas.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// rowSchema describes a tool's data, or one row of it.
func rowSchema(t *testing.T, info result.ToolInfo) schema {
	data := answerSchemas(t, info)["SuccessResponse"]["data"].(schema)
	if items, ok := data["items"].(schema); ok {
		return items
	}
	return data
}

func compareInputs(found map[string]string, place string, want, got schema) {
	if got["additionalProperties"] != want["additionalProperties"] {
		found[place] = fmt.Sprintf("additionalProperties is %v", got["additionalProperties"])
	}
	wanted, given := texts(want["required"]), texts(got["required"])
	for _, name := range append(slices.Clone(wanted), given...) {
		if slices.Contains(wanted, name) != slices.Contains(given, name) {
			found[place+" "+name+" required"] = fmt.Sprintf("required is %v, want %v", given, wanted)
		}
	}
	compareProperties(found, place, want, got)
}

func compareProperties(found map[string]string, place string, want, got schema) {
	ours, _ := got["properties"].(schema)
	for name, property := range want["properties"].(schema) {
		compareProperty(found, place+" "+name, property.(schema), ours[name])
	}
	for _, name := range texts(want["required"]) {
		if !slices.Contains(texts(got["required"]), name) && !strings.HasSuffix(place, "input") {
			found[place+" "+name+" required"] = "may be missing in the data"
		}
	}
}

// compareProperty compares the keys of a property that decide which values are
// valid.
func compareProperty(found map[string]string, place string, want schema, got any) {
	ours, ok := got.(schema)
	if !ok {
		found[place] = "is missing"
		return
	}
	if inner, ok := want["properties"]; ok {
		compareProperties(found, place, schema{"properties": inner}, ours)
	}
	mine, theirs := normal(ours), normal(want)
	for _, key := range slices.Sorted(maps.Keys(eitherKeys(mine, theirs))) {
		if !reflect.DeepEqual(mine[key], theirs[key]) {
			found[place+" "+key] = fmt.Sprintf("%s is %v, want %v", key, mine[key], theirs[key])
		}
	}
}

// normal is the normal form of a schema: alternatives that differ only in their
// type become one list of types.
func normal(s schema) schema {
	out := schema{}
	for key, value := range s {
		switch key {
		case "description", "properties", "required", "additionalProperties":
		case "items":
			out[key] = normal(value.(schema))
		case "type":
			out[key] = sortedTexts(value)
		case "oneOf":
			mergeAlternatives(out, value.([]any))
		default:
			out[key] = value
		}
	}
	return out
}

func mergeAlternatives(out schema, alternatives []any) {
	var types, others []string
	for _, a := range alternatives {
		f := normal(a.(schema))
		if only, ok := f["type"].([]string); ok && len(f) == 1 {
			types = append(types, only...)
			continue
		}
		encoded, _ := json.Marshal(f) // of plain data
		others = append(others, string(encoded))
	}
	slices.Sort(types)
	slices.Sort(others)
	if len(types) > 0 {
		out["type"] = types
	}
	if len(others) > 0 {
		out["oneOf"] = others
	}
}

func eitherKeys(a, b schema) map[string]bool {
	keys := map[string]bool{}
	for _, s := range []schema{a, b} {
		for key := range s {
			keys[key] = true
		}
	}
	return keys
}

// texts reads one text or a list of them.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, each := range v {
			list = append(list, fmt.Sprint(each))
		}
	}
	return list
}

func sortedTexts(value any) []string {
	list := texts(value)
	slices.Sort(list)
	return list
}

// TestAnswersSayAsMuchAsTheDocument compares the envelope with document 003,
// section 9.1: closed sets are enums, ids have their format, numbers their bounds.
func TestAnswersSayAsMuchAsTheDocument(t *testing.T) {
	for server, infos := range inventory(t) {
		for _, info := range infos {
			answers := answerSchemas(t, info)
			codes := texts(answers["ErrorResponse"]["code"].(schema)["enum"])
			if !slices.Contains(codes, "INSUFFICIENT_PERMISSIONS") || !slices.Contains(codes, codesOf(server)[0].Name) {
				t.Errorf("%s answers with the codes %v", info.Name, codes)
			}
			if info.Kind != result.Write {
				continue
			}
			data := answers["PendingConfirmationResponse"]["confirmationData"].(schema)["properties"].(schema)
			got := schema{"id": answers["PendingConfirmationResponse"]["confirmationId"], "action": data["action"], "mcpServer": data["mcpServer"], "timestamp": data["timestamp"], "userId": data["userId"]}
			want := schema{
				"id":     schema{"type": "string", "format": "uuid"},
				"action": schema{"type": "string", "enum": []any{info.Name}}, "mcpServer": schema{"type": "string", "enum": []any{server}},
				"timestamp": schema{"type": "integer", "minimum": 0.0}, "userId": schema{"type": "string"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", info.Name, diff)
			}
		}
	}
}
