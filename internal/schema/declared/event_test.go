package declared

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
)

func TestColumnsOfWhatWasDone(t *testing.T) {
	t.Parallel()
	loans := NewTool(lexicon.English(), result.ToolInfo{
		Name: "list_loans", Kind: result.List,
		InputSchema:  json.RawMessage(`{"properties":{"status":{"type":"string","enum":["lent","returned"]}}}`),
		OutputSchema: json.RawMessage(`{"properties":{"data":{"items":{"properties":{"lent_by":{"type":"string"},"lent_at":{"type":"string","format":"date-time"},"due_date":{"type":"string","format":"date"},"returned_at":{"type":"string","format":"date-time"}}}}}}`),
	}, false)
	if f := When(loans, english.Stem("lent")); f == nil || f.Name != "lent_at" || When(loans, english.Stem("due")) != nil || When(loans, english.Stem("lost")) != nil {
		t.Errorf("lent is on %v", f)
	}
	if by, since := DoneBy(loans, english.Stem("lent")), Since(loans, "returned"); by != "lent_by" || DoneBy(loans, "lost") != "" || since != "returned_at" || Since(loans, "lost") != "" {
		t.Errorf("lent by %q, returned since %q", by, since)
	}
	if Keeps(loans, english.Stem("created")) || !Keeps(loans, english.Stem("lent")) {
		t.Error("who lent it is kept, and no more")
	}
	if !States(loans, "returned") || States(loans, "due") {
		t.Error("a state is a value of an input")
	}
}
