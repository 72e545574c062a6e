package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"countersign.dev/internal/testkit"
)

// scenarios runs the conversations under testdata/scenarios, each on a store of
// its own. A file is an archive of steps and their answers:
//
//	Prose: why this conversation is here.
//
//	-- carol.johnson calls list_deals --
//	{"sort": "closing"}
//	-- answer --
//	data:
//	  {"deal_name": "GFP Expansion", …}
//	status: "success"
//	-- carol.johnson approves --
//	-- answer --
//	…
//
// A step approves or denies the latest confirmation. Answers are exact, but for
// what differs from run to run. With -update the first engine writes them.
func (s *suite) scenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", cmp.Or(s.engine.Scenarios, "scenarios"), "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := s.converse(t, archive)
			if want := txtar.Format(archive); bytes.Equal(got, want) {
				return
			} else if !testkit.Updating() {
				t.Errorf("%s (-want +got):\n%s", file, testkit.Diff(want, got))
			} else if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// converse takes the steps of an archive, and returns it with the answers.
func (s *suite) converse(t *testing.T, archive *txtar.Archive) []byte {
	t.Helper()
	h, pending := s.open(t, Company), ""
	out := &txtar.Archive{Comment: archive.Comment}
	for _, step := range archive.Files {
		if step.Name == "answer" {
			continue
		}
		answer := h.step(step, pending)
		if h.store.Root != "" {
			answer = bytes.ReplaceAll(answer, []byte(h.store.Root), []byte("…"))
		}
		var o struct{ ConfirmationID string }
		if err := json.Unmarshal(answer, &o); err != nil {
			t.Fatal(err)
		}
		if o.ConfirmationID != "" {
			pending = o.ConfirmationID
		}
		out.Files = append(out.Files, step, txtar.File{Name: "answer", Data: lines(answer)})
	}
	return txtar.Format(out)
}

// step makes a call, or answers a confirmation.
func (h *harness) step(step txtar.File, pending string) []byte {
	h.Helper()
	words := strings.Fields(step.Name)
	switch {
	case len(words) == 3 && words[1] == "calls":
		return h.Encode(h.CallAs(words[0], words[2], string(step.Data)))
	case len(words) == 2 && (words[1] == "approves" || words[1] == "denies"):
		return []byte(h.AnswerAs(words[0], pending, words[1] == "approves"))
	}
	h.Fatalf("%q is no step", step.Name)
	return nil
}

// lines writes an answer with a field to a line, and a row of a list to a line.
// What differs from run to run is left out.
func lines(answer []byte) []byte {
	var fields map[string]any
	if err := json.Unmarshal(answer, &fields); err != nil {
		panic(err) // answers are objects
	}
	var b strings.Builder
	steady(fields)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		rows, isList := fields[name].([]any)
		if !isList {
			fmt.Fprintf(&b, "%s: %s\n", name, line(fields[name]))
			continue
		}
		fmt.Fprintf(&b, "%s:\n", name)
		for _, row := range rows {
			fmt.Fprintf(&b, "  %s\n", line(row))
		}
	}
	return []byte(b.String())
}

// varying are the fields that differ from run to run, or from store to store.
var varying = []string{"confirmationId", "timestamp", "expiresAt", "digest", "nextCursor", "_score", "approved_at", "updated_at"}

func line(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(steady(v)); err != nil {
		panic(err) // it was decoded
	}
	return bytes.TrimSpace(b.Bytes())
}

func steady(v any) any {
	if fields, ok := v.(map[string]any); ok {
		for _, name := range varying {
			if _, there := fields[name]; there {
				fields[name] = "…"
			}
		}
	}
	return v
}
