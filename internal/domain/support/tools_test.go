package support_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/domaintest"
)

func ticketIDs(t *testing.T, o result.Outcome) (ids []string) {
	t.Helper()
	for _, row := range domaintest.Decode[[]support.Ticket](t, o) {
		ids = append(ids, row.ID)
	}
	return ids
}

func TestQuestionsOfTheDay(t *testing.T) {
	onEveryStore(t, func(t *testing.T, h *harness) {
		for input, want := range map[string][]string{
			`{"query":"login","priority":"critical"}`:                {"TICK-001"},
			`{"query":"*","status":"open"}`:                          {"TICK-010", "TICK-006", "TICK-004", "TICK-001"},
			`{"query":"*","status":"open","priority":"high"}`:        {"TICK-004"},
			`{"query":"TICK-004"}`:                                   {"TICK-004"},
			`{"query":"Acme"}`:                                       {"TICK-001", "TICK-008"},
			`{"query":"*","customer_id":"65a1c0000000000000000005"}`: {"TICK-011", "TICK-003", "TICK-009"},
			`{"query":"jose"}`:                                       {"TICK-005"},
			`{"query":"zebra quagga"}`:                               nil,
			`{"query":"???"}`:                                        nil,
		} {
			got := ticketIDs(t, h.CallAs("dan.williams", "search_tickets", input))
			if !strings.Contains(input, "*") { // by score, which is the store's own
				slices.Sort(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", input, diff)
			}
		}
		for _, query := range []string{"how do I reset my password?", "reset password", "forgot password link"} {
			in, _ := json.Marshal(map[string]string{"query": query})
			found := domaintest.Decode[[]support.Article](t, h.CallAs("dan.williams", "search_knowledge_base", string(in)))
			if len(found) == 0 || found[0].ID != "KB-001" || len(found[0].Highlight) == 0 {
				t.Errorf("%q: %+v", query, found)
			}
		}
	})
}

// Two words find rows with both; when there are none, rows with either, and the
// answer says so on each of its pages. A word finds its other forms.
func TestWordsAreFoundAsPeopleTypeThem(t *testing.T) {
	onEveryStore(t, func(t *testing.T, h *harness) {
		login, logins := ticketIDs(t, h.CallAs("dan.williams", "search_tickets", `{"query":"login"}`)), ticketIDs(t, h.CallAs("dan.williams", "search_tickets", `{"query":"logins"}`))
		if len(login) != 3 || !slices.Equal(login, logins) {
			t.Errorf("login finds %v, logins %v", login, logins)
		}
		both := h.CallAs("dan.williams", "search_tickets", `{"query":"login Acme"}`)
		if ids := ticketIDs(t, both); !slices.Equal(ids, []string{"TICK-001"}) || both.Page().Remark != "" {
			t.Errorf("two words that a ticket has: %v, %+v", ids, both.Page())
		}
		number := h.CallAs("dan.williams", "search_tickets", `{"query":"10000 rows"}`)
		if ids := ticketIDs(t, number); !slices.Equal(ids, []string{"TICK-002"}) || number.Page().Remark != "" {
			t.Errorf("a number that a ticket writes with a comma: %v, %+v", ids, number.Page())
		}
		hyphen := h.CallAs("dan.williams", "search_tickets", `{"query":"log-ins"}`)
		if ids := ticketIDs(t, hyphen); !slices.Equal(ids, login) || hyphen.Page().Remark != "" {
			t.Errorf("a word with a hyphen: %v, want %v", ids, login)
		}
		const said = "Nothing has all of these words; these have some of them."
		var either []string
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			in, _ := json.Marshal(map[string]any{"query": "login zebra", "limit": 2, "cursor": cursor})
			if cursor == "" {
				in = []byte(`{"query":"login zebra","limit":2}`)
			}
			o := h.CallAs("dan.williams", "search_tickets", string(in))
			if either = append(either, ticketIDs(t, o)...); !strings.Contains(string(h.Encode(o)), `"hint":"`+said) {
				t.Errorf("page %d does not say that it fell back: %s", pages, h.Encode(o))
			}
			cursor = o.Page().Next
		}
		if !slices.Equal(either, login) {
			t.Errorf("either of two words: %v, want %v", either, login)
		}
	})
}

// TestDraftsLeakNowhere: for any query of an executive, no word that is only in
// a draft or in the archive comes back, in no answer and no error.
func TestDraftsLeakNowhere(t *testing.T) {
	canaries := []string{"KB-011", "KB-012", "brandon.morris", "attachments for one", "A-12", "Thursdays"}
	asked := append(slices.Clone(hostile), "draft", "retention archive", "tape*", "thursdays", "-password", `"not agreed yet"`, "data-management", "*")
	onEveryStore(t, func(t *testing.T, h *harness) {
		for _, text := range asked {
			for name, field := range map[string]string{"search_knowledge_base": "query", "get_knowledge_article": "article_id"} {
				in, _ := json.Marshal(map[string]string{field: text})
				wire := string(h.Encode(h.CallAs("eve.thompson", name, string(in))))
				for _, canary := range canaries {
					if strings.Contains(wire, canary) {
						t.Errorf("%s %q: %q is in %s", name, text, canary, wire)
					}
				}
			}
		}
	})
}
