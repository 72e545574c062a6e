package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

const declared = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{
	"id":{"type":"string","format":"uuid"},"day":{"type":"string","format":"date"},
	"limit":{"type":"integer","minimum":1,"maximum":50},"state":{"enum":["OPEN","CLOSED"]}}}`

func TestArgumentsAreCheckedInWords(t *testing.T) {
	s, err := Compile([]byte(declared), Options{Formats: true, Words: map[string]Words{"id": {Suggest: "Use list_things.", Tell: "I find no such thing."}}})
	if err != nil {
		t.Fatal(err)
	}
	const id = `"id":"6f9619ff-8b86-d011-b42d-00cf4fc964ff"`
	for _, c := range []struct{ args, fields, suggests, message string }{
		{`{` + id + `,"limit":10.0,"day":"2026-02-28","state":"OPEN"}`, "", "", ""},
		{`{` + id + `,"limit":51}`, "limit", "limit: must be at most 50", "Invalid input"},
		{`{` + id + `,"state":"LOST"}`, "state", "state: must be one of OPEN, CLOSED", "Invalid input"},
		{`{` + id + `,"colour":1}`, "colour", "colour: is not a field of this tool", "Invalid input"},
		{`{` + id + `,"Limt":1}`, "Limt", "Limt: is not a field of this tool. Did you mean limit?", "Invalid input"},
		{`{` + id + `,"day":"2026-02-30"}`, "day", "day: is not a valid date", "Invalid input"},
		{`{}`, "id", "id: is required. Use list_things.", "I find no such thing."},
		{`{"id":5,"limit":"all"}`, "id limit", "limit: must be integer, not string", "Invalid input"},
		{`[1]`, "", "input: must be an object", "Invalid input"},
	} {
		fields, err := s.Wrong(json.RawMessage(c.args))
		if c.suggests == "" {
			if err != nil {
				t.Errorf("%s: got %v", c.args, err)
			}
			continue
		}
		f := fault.From(err)
		if f == nil || f.Code != fault.ValidationError || !strings.Contains(f.SuggestedAction, c.suggests) || !strings.Contains(f.Message, c.message) || strings.Join(fields, " ") != c.fields {
			t.Errorf("%s: got %q, %+v", c.args, fields, f)
		}
	}
}

// TestPeopleReadWhatIsWrong: a person reads a sentence without names of inputs, patterns
// and formats.
func TestPeopleReadWhatIsWrong(t *testing.T) {
	s, err := Compile([]byte(`{"type":"object","additionalProperties":false,"properties":{"deal_id":{"type":"string","pattern":"^[0-9a-f]{24}$"},"employee_id":{"type":"string","format":"uuid"},
		"due_before":{"type":"string","format":"date"},"fiscal_year":{"type":"integer","minimum":2000},"note":{"type":"string","minLength":10},"stage":{"enum":["CLOSED_WON","OPEN"]},
		"month":{"type":"string","pattern":"^....-..$"},"active":{"type":"boolean"},"files":{"anyOf":[{"type":"array"},{"type":"null"}]}}}`), Options{Formats: true})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"deal_id":"7"}`: "I find nothing with that id.", `{"employee_id":"7"}`: "I find nothing with that id.",
		`{"due_before":"soon"}`:             "Which day? Say one of the years 1900 to 2199, like 2026-01-31.",
		`{"fiscal_year":1990,"note":"x"}`:   "The fiscal year must be at least 2000. The note must have at least 10 characters.",
		`{"stage":"LOST"}`:                  "The stage must be one of closed won, open.",
		`{"month":"May"}`:                   "The month is not written as it should be.",
		`{"fiscal_year":"x","active":"on"}`: "The active must be yes or no. The fiscal year must be a whole number.",
		`{"files":"x"}`:                     "The files must be a list.",
		`{"colour":1}`:                      fault.Unfit, `[1]`: fault.Unfit,
	} {
		_, err := s.Wrong(json.RawMessage(args))
		if message, advice := fault.From(err).ForPeople(); message != want || advice != "" {
			t.Errorf("%s: got %q, %q, want %q", args, message, advice, want)
		}
	}
}

// TestMissingIDIsAskedFor: that nothing has an id is said of one that was given.
func TestMissingIDIsAskedFor(t *testing.T) {
	words := map[string]Words{"sales_deal_id": {Tell: "I find no deal with that id."}, "reason": {Tell: "Why was it lost?"}}
	s, err := Compile([]byte(`{"type":"object","required":["sales_deal_id","reason"],"properties":{"sales_deal_id":{"type":"string","format":"uuid"},"reason":{"type":"string"}}}`), Options{Formats: true, Words: words})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{}`: "Why was it lost? Which sales deal is meant?", `{"reason":"price"}`: "Which sales deal is meant?",
		`{"reason":"price","sales_deal_id":"7"}`: "I find no deal with that id.",
	} {
		if _, err := s.Wrong(json.RawMessage(args)); fault.From(err).Message != want {
			t.Errorf("%s: got %q, want %q", args, fault.From(err).Message, want)
		}
	}
}

func TestFormatsCanBeLeftToTheServer(t *testing.T) {
	s, err := Compile([]byte(declared), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fields, err := s.Wrong(json.RawMessage(`{"id":"x"}`)); err != nil || !slices.Equal(fields, nil) {
		t.Errorf("got %q, %v", fields, err)
	}
}

func TestSchemaReadsNoOtherDocument(t *testing.T) {
	for _, ref := range []string{"file:///etc/hostname", "https://schemas.example/x.json", "other.json"} {
		if _, err := Compile([]byte(`{"$ref":"`+ref+`"}`), Options{}); err == nil || !strings.Contains(err.Error(), "must not refer to other documents") {
			t.Errorf("%s: got %v", ref, err)
		}
	}
}

// TestSchemaFromElsewhereIsBounded: one that can be made to take long does not
// compile where that is asked for.
func TestSchemaFromElsewhereIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		fine   bool
	}{
		"plain":            {`{"$defs":{"a":{"type":"string"}},"properties":{"id":{"$ref":"#/$defs/a"},"more":{"$ref":"#/$defs/a"}}}`, true},
		"refers to itself": {`{"$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/a"}}}},"properties":{"id":{"$ref":"#/$defs/a"}}}`, false},
		"an anchor":        {`{"$defs":{"a":{"$anchor":"a","type":"string"}},"properties":{"id":{"$ref":"#a"}}}`, false},
		"too large":        {`{"enum":[` + strings.Repeat(`"x",`, maxWork) + `"y"]}`, false},
	} {
		if _, err := Compile([]byte(c.schema), Options{Bounded: true}); (err == nil) != c.fine {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
