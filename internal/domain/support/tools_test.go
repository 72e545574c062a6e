package support_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
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
	onBothStores(t, func(t *testing.T, o *office) {
		for input, want := range map[string][]string{
			`{"query":"login","priority":"critical"}`:                {"TICK-001"},
			`{"query":"*","status":"open"}`:                          {"TICK-010", "TICK-006", "TICK-004", "TICK-001"},
			`{"query":"*","status":"open","priority":"high"}`:        {"TICK-004"},
			`{"query":"TICK-004"}`:                                   {"TICK-004"},
			`{"query":"Acme"}`:                                       {"TICK-001", "TICK-008"},
			`{"query":"*","customer_id":"65a1c0000000000000000005"}`: {"TICK-003", "TICK-009"},
			`{"query":"jose"}`:                                       {"TICK-005"},
			`{"query":"no such words"}`:                              nil,
			`{"query":"???"}`:                                        nil,
		} {
			got := ticketIDs(t, o.CallAs("dan.williams", "search_tickets", input))
			if !strings.Contains(input, "*") { // by score, which is the store's own
				slices.Sort(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", input, diff)
			}
		}
		for _, query := range []string{"how do I reset my password?", "reset password", "forgot password link"} {
			in, _ := json.Marshal(map[string]string{"query": query})
			found := domaintest.Decode[[]support.Article](t, o.CallAs("dan.williams", "search_knowledge_base", string(in)))
			if len(found) == 0 || found[0].ID != "KB-001" || len(found[0].Highlight) == 0 {
				t.Errorf("%q: %+v", query, found)
			}
		}
	})
}

func TestPagesAreWalkedToTheEnd(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		for _, query := range []string{"*", "tick"} {
			input := `{"query":"` + query + `","limit":3`
			out := o.CallAs("eve.thompson", "search_tickets", input+"}")
			all := ticketIDs(t, out)
			for out.Page().More {
				next := input + `,"cursor":"` + out.Page().Next + `"}`
				if stolen := o.CallAs("dan.williams", "search_tickets", next); stolen.Code() != "INVALID_CURSOR" {
					t.Fatalf("Eve's cursor in Dan's hands: %s", stolen.Code())
				}
				out = o.CallAs("eve.thompson", "search_tickets", next)
				all = append(all, ticketIDs(t, out)...)
			}
			if slices.Sort(all); len(all) != 10 || len(slices.Compact(all)) != 10 {
				t.Errorf("%q: %v", query, all)
			}
		}
	})
}

// TestWhoSeesWhatOfSupport is the domain's page for the curious: person, what
// they ask, what they get.
func TestWhoSeesWhatOfSupport(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		for _, c := range []struct{ who, tool, input, want string }{
			{"dan.williams", "search_tickets", `{"query":"TICK-004"}`, "lena.ostrowski@techstart.example"},
			{"eve.thompson", "search_tickets", `{"query":"TICK-004"}`, "lena.ostrowski@techstart.example"},
			{"frank.davis", "search_tickets", `{"query":"TICK-004"}`, "INSUFFICIENT_PERMISSIONS"},
			{"carol.johnson", "search_tickets", `{"query":"TICK-004"}`, "INSUFFICIENT_PERMISSIONS"},
			{"auditor.demo", "search_knowledge_base", `{"query":"*"}`, "INSUFFICIENT_PERMISSIONS"},
			{"dan.williams", "search_knowledge_base", `{"query":"*"}`, "12"},
			{"eve.thompson", "search_knowledge_base", `{"query":"*"}`, "10"},
			{"dan.williams", "search_knowledge_base", `{"query":"tapes"}`, "1"},
			{"eve.thompson", "search_knowledge_base", `{"query":"tapes"}`, "0"},
			{"dan.williams", "get_knowledge_article", `{"article_id":"kb-011"}`, "draft"},
			{"eve.thompson", "get_knowledge_article", `{"article_id":"KB-011"}`, "ARTICLE_NOT_FOUND"},
			{"eve.thompson", "get_knowledge_article", `{"article_id":"KB-012"}`, "ARTICLE_NOT_FOUND"},
			{"eve.thompson", "get_knowledge_article", `{"article_id":"KB-001"}`, "published"},
			{"eve.thompson", "get_knowledge_article", `{"article_id":"KB-099"}`, "ARTICLE_NOT_FOUND"},
			{"frank.davis", "get_knowledge_article", `{"article_id":"KB-001"}`, "INSUFFICIENT_PERMISSIONS"},
		} {
			out := o.CallAs(c.who, c.tool, c.input)
			got := out.Code()
			switch {
			case out.Fault() != nil:
			case c.tool == "search_tickets":
				got = domaintest.Decode[[]support.Ticket](t, out)[0].CustomerEmail
			case c.tool == "search_knowledge_base":
				got = fmt.Sprint(len(domaintest.Decode[[]support.Article](t, out)))
			default:
				got = domaintest.Decode[support.Article](t, out).Status
			}
			if got != c.want {
				t.Errorf("%s %s %s: got %s, want %s", c.who, c.tool, c.input, got, c.want)
			}
		}
		hidden, unknown := o.CallAs("eve.thompson", "get_knowledge_article", `{"article_id":"KB-011"}`), o.CallAs("eve.thompson", "get_knowledge_article", `{"article_id":"KB-099"}`)
		if diff := cmp.Diff(string(o.Encode(unknown)), string(o.Encode(hidden))); diff != "" {
			t.Errorf("a hidden article is answered differently:\n%s", diff)
		}
	})
}

// TestReaderSeesMaskedCallers: who only reads tickets sees where a caller comes
// from, not who they are.
func TestReaderSeesMaskedCallers(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		out := o.Call(testkit.As(t, "amy", access.SupportRead), "search_tickets", json.RawMessage(`{"query":"*"}`))
		for _, row := range domaintest.Decode[[]support.Ticket](t, out) {
			if name, _, _ := strings.Cut(row.CustomerEmail, "@"); len(name) != 4 || !strings.HasSuffix(name, "***") {
				t.Errorf("%s: %s", row.ID, row.CustomerEmail)
			}
		}
		for _, canary := range []string{"lena.ostrowski", `"confirmation":`, `"closed_by":`} {
			if wire := string(o.Encode(out)); strings.Contains(wire, canary) {
				t.Errorf("%q is in %s", canary, wire)
			}
		}
	})
}

// TestDraftsLeakNowhere: whatever an executive asks, no word that stands only in
// a draft or in the archive comes back, in no answer and no error.
func TestDraftsLeakNowhere(t *testing.T) {
	canaries := []string{"KB-011", "KB-012", "brandon.morris", "attachments for one", "A-12", "Thursdays"}
	asked := append(slices.Clone(hostile), "draft", "retention archive", "tape*", "thursdays", "-password", `"not agreed yet"`, "data-management", "*")
	onBothStores(t, func(t *testing.T, o *office) {
		for _, text := range asked {
			for name, field := range map[string]string{"search_knowledge_base": "query", "get_knowledge_article": "article_id"} {
				in, _ := json.Marshal(map[string]string{field: text})
				wire := string(o.Encode(o.CallAs("eve.thompson", name, string(in))))
				for _, canary := range canaries {
					if strings.Contains(wire, canary) {
						t.Errorf("%s %q: %q is in %s", name, text, canary, wire)
					}
				}
			}
		}
	})
}

func TestRefusalNamesWhoMay(t *testing.T) {
	o := newOffice(t, sqliteAt(t, ""))
	for name, c := range map[string]struct{ input, roles string }{
		"search_tickets":        {`{"query":"*"}`, "support-read or executive"},
		"search_knowledge_base": {`{"query":"*"}`, "support-read or executive"},
		"get_knowledge_article": {`{"article_id":"KB-001"}`, "support-read or executive"},
		"close_ticket":          {`{"ticket_id":"TICK-004","resolution":"password reset"}`, "support-write or executive"},
	} {
		out := o.CallAs("frank.davis", name, c.input)
		if out.Code() != "INSUFFICIENT_PERMISSIONS" || !strings.Contains(out.Fault().Message, c.roles) {
			t.Errorf("%s: %s %v", name, out.Code(), out.Fault())
		}
	}
}

func TestInputOfTheWrongShapeIsRefused(t *testing.T) {
	o := newOffice(t, sqliteAt(t, ""))
	for _, input := range []string{
		`{}`, `{"query":""}`, `{"query":{"$ne":""}}`, `{"query":"` + strings.Repeat("é", 501) + `"}`, `{"query":"*","status":"overdue"}`, `{"query":"*","priority":{"gt":""}}`,
		`{"query":"*","_index":"x"}`, `{"query":"*","limit":51}`, `{"query":"*","query":"a"}`, `{"query":["*"]}`,
	} {
		if out := o.CallAs("dan.williams", "search_tickets", input); out.Code() != "VALIDATION_ERROR" {
			t.Errorf("%s: got %s", input, out.Code())
		}
	}
	if out := o.CallAs("dan.williams", "search_tickets", `{"query":"`+strings.Repeat("é", 500)+`"}`); out.Fault() != nil {
		t.Errorf("500 characters: %v", out.Fault())
	}
}

// TestInputsAreTheDocumentedOnes: names, types and required sets of document
// 003, and no more than what is allowed to be added.
func TestInputsAreTheDocumentedOnes(t *testing.T) {
	o := newOffice(t, sqliteAt(t, ""))
	documented := map[string]string{
		"search_tickets":        "cursor:string customer_id:string limit:integer priority:string query:string! status:string ",
		"get_knowledge_article": "article_id:string! ",
		"search_knowledge_base": "category:string cursor:string limit:integer query:string! ",
		"close_ticket":          "customer_notified:boolean resolution:string! resolution_type:string ticket_id:string! ",
	}
	for _, info := range o.Visible(testkit.Person("eve", access.Executive)) {
		if got := domaintest.Inputs(t, info); got != documented[info.Name] {
			t.Errorf("%s:\ngot  %s\nwant %s", info.Name, got, documented[info.Name])
		}
		delete(documented, info.Name)
	}
	if len(documented) > 0 {
		t.Errorf("not declared: %v", documented)
	}
}

func TestEveryCodeIsDeclaredOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range support.New(nil, nil).Codes() {
		if seen[c.Name] || c.Meaning == "" || c.Suggest == "" {
			t.Errorf("%s", fmt.Sprint(c))
		}
		seen[c.Name] = true
	}
	if len(seen) != 3 {
		t.Errorf("got %v", seen)
	}
}
