package support_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
)

// mark is a word that only texts from outside have.
const mark = "zyzzyva"

// foreignTexts is a department of one ticket and one article, in which every text
// of other people has the mark.
func foreignTexts() company.Support {
	by := func(what string) string { return "A " + what + " with a " + mark + "." }
	return company.Support{
		Tickets: slices.Values([]company.Ticket{{
			ID: "TICK-900", Subject: by("subject"), Description: by("description"), CustomerName: by("name"), Tags: []string{mark}, Resolution: by("resolution"),
			Status: "resolved", Priority: "low", CustomerEmail: mark + "@customer.example", Category: "access", Created: day, Updated: day,
		}}),
		Articles: slices.Values([]company.Article{{
			ID: "KB-900", Title: by("title"), Summary: by("summary"), Content: by("content"), Tags: []string{mark},
			Category: "security", Author: "dan@" + company.Domain, Status: "published", Created: day, Updated: day,
		}}),
	}
}

// TestExactlyTheTextsOfOthersAreDeclared: a field that a tool declares as
// untrusted is in its answers or on its card and holds what other people
// wrote, and every field that does is declared. The assistant marks by these
// names, so a missing one lets a stranger's words pass as ours.
func TestExactlyTheTextsOfOthersAreDeclared(t *testing.T) {
	onEveryStore(t, func(t *testing.T, h *harness) {
		if err := h.store.Fill(t.Context(), foreignTexts()); err != nil {
			t.Fatal(err)
		}
		pending := h.PendingAs("dan.williams", "close_ticket", `{"ticket_id":"TICK-900","resolution":"Explained on the phone."}`)
		card, err := json.Marshal(map[string]any{"message": pending.Message, "confirmationData": pending.Data})
		if err != nil {
			t.Fatal(err)
		}
		answer := func(name, input string) string { return string(h.Encode(h.CallAs("dan.williams", name, input))) }
		answers := map[string][]string{
			"search_tickets":        {answer("search_tickets", `{"query":"`+mark+`"}`)},
			"search_knowledge_base": {answer("search_knowledge_base", `{"query":"`+mark+`"}`)},
			"get_knowledge_article": {answer("get_knowledge_article", `{"article_id":"KB-900"}`)},
			"close_ticket":          {string(card), h.AnswerAs("dan.williams", pending.ID, true)},
		}
		for _, declared := range support.New(nil, nil).Tools() {
			name := declared.Spec().Name
			if diff := cmp.Diff(carriers(t, answers[name]...), slices.Sorted(slices.Values(declared.Spec().Untrusted))); diff != "" {
				t.Errorf("%s (-held +declared):\n%s", name, diff)
			}
		}
	})
}

// carriers lists the names of the fields whose texts have the mark.
func carriers(t *testing.T, answers ...string) []string {
	t.Helper()
	found := map[string]bool{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if name != "quotes" { // the kernel declares what it adds
					walk(name, inner)
				}
			}
		case []any: // a list's texts are its field's
			for _, inner := range v {
				walk(name, inner)
			}
		case string:
			if strings.Contains(v, mark) {
				found[name] = true
			}
		}
	}
	for _, answer := range answers {
		var v any
		if err := json.Unmarshal([]byte(answer), &v); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		walk("", v)
	}
	return slices.Sorted(maps.Keys(found))
}
