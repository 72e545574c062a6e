package draw

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

func TestCodeIsPrintedWithItsLines(t *testing.T) {
	t.Parallel()
	text := "func seal() {\n\tif a\x1b[2J {" + strings.Repeat("\n}", 18)
	data, err := json.Marshal([]map[string]any{
		{"repository": "gateway", "file_path": "seal/seal.go", "start_line": 98, "end_line": 117, "symbol": "seal", "match_snippet": text, "relevance_score": 0.9},
		{"repository": "gateway", "file_path": "list.go", "start_line": 1, "end_line": 1, "match_snippet": "package list"},
		{"repository": "gateway", "file_path": "long.go", "start_line": 1, "end_line": 30, "snippet_line": 29, "match_snippet": "func long() {"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Table(&out, Rows(result.Success(data, nil, "")), map[string]result.Field{"match_snippet": {Show: result.ShowCode}}, 24); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range map[int]string{0: "seal/seal.go:98  seal  gateway", 1: "  98  func seal() {", 2: "  99      if a⟨U+001B⟩[…", 3: " 100  }", 13: "   …  to line 117", 14: "", 15: "list.go:1  gateway", 16: " 1  package list", 17: "", 18: "long.go:1  gateway", 19: " 29  func long() {", 20: "  …  to line 30", 21: ""} {
		if lines[i] != want {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	if len(lines) != 22 {
		t.Errorf("got %d lines:\n%s", len(lines), &out)
	}
}
