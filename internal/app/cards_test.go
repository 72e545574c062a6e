package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// eachWrite calls test with every tool that changes something, a call of it that
// opens a card, and the names of its free-text inputs.
func eachWrite(t *testing.T, w *harness, test func(server string, info result.ToolInfo, call example, texts []string)) {
	t.Helper()
	calls := examples(w)
	calls["close_deal"] = example{"carol.johnson", map[string]any{"deal_id": "65a2d0000000000000000009", "outcome": "lost", "loss_reason": "price"}}
	deleteOne(t, w)
	for _, server := range slices.Sorted(maps.Keys(w.runners)) {
		for _, info := range w.runners[server].Visible(catalogue()) {
			if info.Kind != result.Write {
				continue
			}
			var schema struct {
				Properties map[string]struct {
					Type, Format, Pattern string
					Enum                  []string
				}
			}
			if err := json.Unmarshal(info.InputSchema, &schema); err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
				if p := schema.Properties[name]; p.Type == "string" && p.Format == "" && p.Pattern == "" && p.Enum == nil {
					texts = append(texts, name)
				}
			}
			test(server, info, calls[info.Name], texts)
		}
	}
}

// changed is a call with one input replaced.
func (e example) changed(name string, value any) map[string]any {
	in := maps.Clone(e.in)
	in[name] = value
	return in
}

// TestOddTextOpensNoCard: a free text of any tool that holds what a card would
// not show is rejected, with its field and code point.
func TestOddTextOpensNoCard(t *testing.T) {
	w := newHarness(t)
	tried := 0
	eachWrite(t, w, func(server string, info result.ToolInfo, call example, texts []string) {
		for _, name := range texts {
			for _, odd := range []rune{0x202e, 0x2066, 0x200b, 0xfeff, 0xe0041, 0x07, 0x3164} {
				tried++
				in := call.changed(name, "A text that has "+string(odd)+" inside.")
				f := w.call(t, account(t, call.who).Principal(), server, info.Name, in).Fault()
				if f == nil || f.Code != fault.ValidationError || !strings.Contains(f.SuggestedAction, fmt.Sprintf("%s: has %U,", name, odd)) {
					t.Errorf("%s.%s with %U: got %v", info.Name, name, odd, f)
				}
			}
		}
	})
	if tried < 7*10 {
		t.Errorf("only %d texts were tried", tried)
	}
}

// TestFreeTextIsNoPartOfTheQuestion: what comes with a call, and is not the name
// of something, is a quotation of the assistant and never in the sentence.
func TestFreeTextIsNoPartOfTheQuestion(t *testing.T) {
	w := newHarness(t)
	names := []string{"ticket_id", "department", "workspace_path"}
	eachWrite(t, w, func(server string, info result.ToolInfo, call example, texts []string) {
		for _, name := range texts {
			if slices.Contains(names, name) {
				continue
			}
			const text = "Zebra crossing.\nThis was approved by Eve; press Approve."
			p := w.call(t, account(t, call.who).Principal(), server, info.Name, call.changed(name, text)).Pending()
			if p == nil {
				t.Errorf("%s.%s: no card was opened", info.Name, name)
				continue
			}
			if strings.Contains(p.Message, "Zebra") {
				t.Errorf("%s: the sentence has %s: %s", info.Name, name, p.Message)
			}
			if quotes := fmt.Sprint(p.Data["quotes"]); !strings.Contains(quotes, "written by the assistant "+text) {
				t.Errorf("%s.%s is no quotation: %s", info.Name, name, quotes)
			}
		}
	})
}

// TestQuestionsAreForPeople: the question of a card holds no code, no moment as
// programs write it, and no name of a tool or an input.
func TestQuestionsAreForPeople(t *testing.T) {
	w := newHarness(t)
	spelled := regexp.MustCompile(`\b[A-Z]{4,}\b|\b[A-Za-z]+_[A-Za-z_]+\b|\d{2}T\d{2}:\d{2}`)
	eachWrite(t, w, func(server string, info result.ToolInfo, call example, _ []string) {
		p := w.call(t, account(t, call.who).Principal(), server, info.Name, call.in).Pending()
		if p == nil {
			t.Fatalf("%s: no card was opened", info.Name)
		}
		if found := spelled.FindString(strings.ReplaceAll(p.Message, "TICK-", "")); found != "" {
			t.Errorf("%s asks with %q: %s", info.Name, found, p.Message)
		}
	})
}

// TestCardsWithoutAReasonSaySo: the card of every change that takes a reason has one.
func TestCardsWithoutAReasonSaySo(t *testing.T) {
	w := newHarness(t)
	seen := 0
	eachWrite(t, w, func(server string, info result.ToolInfo, call example, texts []string) {
		if !slices.Contains(texts, "reason") {
			return
		}
		seen++
		in := maps.Clone(call.in)
		delete(in, "reason")
		p := w.call(t, account(t, call.who).Principal(), server, info.Name, in).Pending()
		if p == nil || p.Data["reason"] != "No reason provided" {
			t.Errorf("%s: got %+v", info.Name, p)
		}
	})
	if seen < 4 {
		t.Errorf("only %d changes were seen", seen)
	}
}

// TestFiguresOnCardsAreDeclared: every figure on a card has its unit, or is a year,
// so that no reader of the card has to guess what is money.
func TestFiguresOnCardsAreDeclared(t *testing.T) {
	w := newHarness(t)
	seen := 0
	eachWrite(t, w, func(server string, info result.ToolInfo, call example, _ []string) {
		p := w.call(t, account(t, call.who).Principal(), server, info.Name, call.in).Pending()
		if p == nil {
			t.Errorf("%s: no card was opened", info.Name)
			return
		}
		for name, value := range p.Data {
			_, isFigure := value.(float64)
			if !isFigure || name == "timestamp" || name == "expiresAt" {
				continue
			}
			seen++
			if info.Fields == nil || info.Fields.Preview[name].Unit == "" && info.Fields.Preview[name].Show != result.ShowYear {
				t.Errorf("%s: the figure %s has no unit", info.Name, name)
			}
		}
	})
	if seen < 10 {
		t.Errorf("only %d figures were seen", seen)
	}
}

// TestFiguresOnCardsSayWhichWayTheyGo: a reader does not have to compute what a
// change does.
func TestFiguresOnCardsSayWhichWayTheyGo(t *testing.T) {
	w := newHarness(t)
	calls := examples(w)
	for _, c := range []struct {
		server, tool, field string
		value               any
		want                string
	}{
		{"hr", "update_salary", "new_salary", 345_625, "This lowers the annual salary of Sarah Kim (sarah.kim@tamshai.local) from $395,000 to $345,625 (-12.5 %)."},
		{"hr", "update_salary", "new_salary", 420_000, "This raises the annual salary of Sarah Kim (sarah.kim@tamshai.local) from $395,000 to $420,000 (+6.3 %)."},
		{"finance", "approve_budget", "amount", 900_000, "with another amount? This lowers it from the submitted $980,000 to $900,000 (-$80,000, -8.2 %)."},
		{"finance", "approve_budget", "amount", 1_000_000, "This raises it from the submitted $980,000 to $1,000,000 (+$20,000, +2.0 %)."},
		{"finance", "approve_budget", "amount", 980_000, "Approve the 2026 budget of Marketing, $980,000, submitted by"},
		{"sales", "close_deal", "actual_value", 52_000, "as won for $52,000? That is less than its value (-20.0 %)."},
		{"sales", "close_deal", "actual_value", 78_000, "as won for $78,000? That is more than its value (+20.0 %)."},
		{"sales", "close_deal", "actual_value", 65_000, "as won for $65,000?\nThis cannot be undone."},
		{"support", "close_ticket", "customer_notified", true, "According to the request, the customer was notified."},
		{"support", "close_ticket", "customer_notified", false, "According to the request, the customer was not notified."},
		{"support", "close_ticket", "resolution_type", "solved", "with the resolution below?\nNo other outcome is named, so it is recorded as solved. This cannot be undone."},
	} {
		call := calls[c.tool]
		p := w.call(t, account(t, call.who).Principal(), c.server, c.tool, call.changed(c.field, c.value)).Pending()
		if p == nil || !strings.Contains(p.Message, c.want) {
			t.Errorf("%s %s %v: got %+v, want %q", c.tool, c.field, c.value, p, c.want)
		}
	}
	raise := calls["update_salary"]
	f := w.call(t, account(t, raise.who).Principal(), "hr", "update_salary", raise.changed("new_salary", 395_000)).Fault()
	if f == nil || f.Code != fault.InvalidInput || !strings.Contains(f.Message, "Nothing would change") {
		t.Errorf("the salary that she has: got %v", f)
	}
}
