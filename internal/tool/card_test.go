package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// A lion is freed: its name is a row's, its legend a row's text, and reason and
// wishes come with the call.
type freeLion struct {
	Lion   string   `json:"lion"`
	Reason string   `json:"reason,omitempty" text:"lines"`
	Wishes []string `json:"wishes,omitempty"`
	Door   door     `json:"door,omitzero"`
}

type door struct {
	Label string `json:"label,omitempty"`
}

type lionCard struct {
	LionID string   `json:"lionId"`
	Name   string   `json:"name"`
	Nicks  []string `json:"nicks"`
	Legend string   `json:"legend,omitempty" quote:"lionId"`
	Reason string   `json:"reason" quote:"assistant" empty:"No reason provided"`
	Keeper string   `json:"keeper"`
}

func (c lionCard) Message() tool.Sentence {
	return tool.Say("Free %s (%s), kept by %s, for %s?", c.Name, c.LionID, tool.Listed(c.Keeper), tool.Plain("USD 1,000"))
}

type freed struct {
	Message string `json:"message"`
}

// zoo is a runner over one lion.
func zoo(t testing.TB, lion lionCard) *tool.Runner {
	t.Helper()
	free := tool.Write(
		tool.Spec{Name: "free_lion", Title: "Free a lion", Description: "Free a lion.", Allow: []access.Role{access.Employee}},
		tool.Steps[freeLion, lionCard, struct{}, freed]{
			Preview: func(_ context.Context, in freeLion) (lionCard, struct{}, error) {
				card := lion
				card.Reason = in.Reason
				return card, struct{}{}, nil
			},
			Apply: func(context.Context, freeLion, struct{}) (freed, error) { return freed{"Done."}, nil },
		})
	r, err := tool.NewRunner([]tool.Tool{free}, tool.Options{
		Server: "zoo", Confirmations: newConfirmations(t, newHarness(t, nil)), Receipts: tool.OneStore(testkit.NewFakeDomain()), Audit: &testkit.MemorySink{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func freeing(t testing.TB, r *tool.Runner, input any) result.Outcome {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return r.Call(testkit.As(t, "ann", access.Employee), "free_lion", raw)
}

var leo = lionCard{LionID: "LION-7", Name: "Leo", Nicks: []string{"King"}, Keeper: "Ann Lee"}

func TestFreeTextIsQuotedWithItsAuthor(t *testing.T) {
	lion := leo
	lion.Legend = "Ate a keeper.\nTwice."
	o := freeing(t, zoo(t, lion), map[string]any{"lion": "LION-7", "reason": "It asked.\nApproved already; press Approve."})
	p := o.Pending()
	if p == nil {
		t.Fatalf("got %s", o.Code())
	}
	if want := "Free Leo (LION-7), kept by Ann Lee, for USD 1,000?"; p.Message != want {
		t.Errorf("got %q, want %q", p.Message, want)
	}
	want := []tool.Quote{
		{Field: "legend", Author: "text of LION-7", Text: "Ate a keeper.\nTwice."},
		{Field: "reason", Author: "written by the assistant", Text: "It asked.\nApproved already; press Approve."},
	}
	if diff := cmp.Diff(want, p.Data["quotes"]); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
	if p.Data["reason"] != want[1].Text || p.Data["legend"] != want[0].Text {
		t.Errorf("the documented facts are gone: %v", p.Data)
	}
}

// TestWriterOfAReasonIsTheOneOfItsSurface: a person's own call quotes the person,
// and no assistant is made up where none is known.
func TestWriterOfAReasonIsTheOneOfItsSurface(t *testing.T) {
	const assistant = "written by the assistant"
	r := zoo(t, leo)
	for surface, want := range map[access.Surface]string{
		access.SurfaceChat: assistant, access.SurfaceTerminal: assistant, access.SurfaceMCP: assistant,
		access.SurfaceAPI: "written by the person who asked", access.SurfaceServer: "sent with the request",
	} {
		ctx := access.With(t.Context(), testkit.Person("ann", access.Employee).WithSurface(surface))
		p := r.Call(ctx, "free_lion", json.RawMessage(`{"lion":"LION-7","reason":"It asked."}`)).Pending()
		if diff := cmp.Diff([]tool.Quote{{Field: "reason", Author: want, Text: "It asked."}}, p.Data["quotes"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", surface, diff)
		}
		if diff := cmp.Diff(map[string]any{"surface": string(surface)}, p.Data["origin"]); diff != "" {
			t.Errorf("%s: origin (-want +got):\n%s", surface, diff)
		}
	}
}

func TestCardWithoutAReasonSaysSo(t *testing.T) {
	p := freeing(t, zoo(t, leo), map[string]any{"lion": "LION-7"}).Pending()
	if p.Data["reason"] != "No reason provided" || p.Data["quotes"] != nil {
		t.Errorf("got %v", p.Data)
	}
}

// TestRowsCannotWriteTheSentence: whatever a row is called, the sentence has our
// words and one quotation of at most 80 characters, on one line.
func TestRowsCannotWriteTheSentence(t *testing.T) {
	for name, want := range map[string]string{
		"Leo":                          `Leo`,
		"Leo the Great":                `“Leo the Great”`,
		"Leo”? Approved. Free “Simba":  `“Leo'? Approved. Free 'Simba”`,
		"Leo?\nThis was approved":      `“Leo?⟨U+000A⟩This was approved”`,
		"\u202eoeL":                    `“⟨U+202E⟩oeL”`,
		"Le\u200bo":                    `“Le⟨U+200B⟩o”`,
		"":                             `“”`,
		"*** (Hidden)":                 `*** (Hidden)`,
		strings.Repeat("ä", 81):        "“" + strings.Repeat("ä", 80) + "…”",
		strings.Repeat("long ", 2_000): "“" + strings.Repeat("long ", 16) + "…”",
	} {
		lion := leo
		lion.Name = name
		p := freeing(t, zoo(t, lion), map[string]any{"lion": "LION-7"}).Pending()
		if want := "Free " + want + " (LION-7), kept by Ann Lee, for USD 1,000?"; p.Message != want {
			t.Errorf("%q: got %q, want %q", name, p.Message, want)
		}
	}
	for keeper, want := range map[string]string{
		"Ann van der Lee": "Ann van der Lee", "Jean-Luc O’Neil": "Jean-Luc O’Neil", "Élodie Ünal": "Élodie Ünal",
		"Ann Lee and all others": "“Ann Lee and all others”", "Ann: approved": "“Ann: approved”", "Ann\u00a0Lee": "“Ann\u00a0Lee”",
	} {
		lion := leo
		lion.Keeper = keeper
		if got := freeing(t, zoo(t, lion), map[string]any{"lion": "LION-7"}).Pending().Message; !strings.Contains(got, "kept by "+want+",") {
			t.Errorf("%q: got %q", keeper, got)
		}
	}
}

func TestStoredTextIsEscapedOnTheCard(t *testing.T) {
	lion := lionCard{LionID: "L\u202eX", Name: "Le\x00o", Nicks: []string{"a\u200b", "b"}, Legend: strings.Repeat("x", 3000) + "\x1b", Keeper: "Ann"}
	p := freeing(t, zoo(t, lion), map[string]any{"lion": "LION-7"}).Pending()
	want := map[string]any{"lionId": "L⟨U+202E⟩X", "name": "Le⟨U+0000⟩o", "nicks": []any{"a⟨U+200B⟩", "b"}, "legend": strings.Repeat("x", 2000) + "…"}
	for key, value := range want {
		if diff := cmp.Diff(value, p.Data[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	if q := p.Data["quotes"].([]tool.Quote); len(q) != 1 || q[0].Author != "text of “L⟨U+202E⟩X”" || utf8.RuneCountInString(q[0].Text) != 2001 {
		t.Errorf("got %+v", q)
	}
}

// TestOddInputsAreRejected: the error names the field and the code point, and
// nothing waits.
func TestOddInputsAreRejected(t *testing.T) {
	r := zoo(t, leo)
	for _, c := range []struct {
		input map[string]any
		want  string
	}{
		{map[string]any{"lion": "LION-7", "reason": "pay \u202e000,1"}, "reason: has U+202E, a character that changes the direction of text, as character 5; remove it"},
		{map[string]any{"lion": "LION-7", "reason": "a\x07"}, "reason: has U+0007"},
		{map[string]any{"lion": "LION-7", "reason": " \n "}, "reason: has no visible character"},
		{map[string]any{"lion": "LION\n7"}, "lion: has U+000A"},
		{map[string]any{"lion": "LION-7", "wishes": []string{"a", "b\u200b"}}, "wishes.1: has U+200B"},
		{map[string]any{"lion": "LION-7", "door": map[string]any{"label": "x\U000e0041"}}, "door.label: has U+E0041"},
	} {
		o := freeing(t, r, c.input)
		if f := o.Fault(); f == nil || f.Code != fault.ValidationError || !strings.Contains(f.SuggestedAction, c.want) {
			t.Errorf("%q: got %v, want %s", c.input, o.Fault(), c.want)
		}
	}
	if o := freeing(t, r, map[string]any{"lion": "LION-7", "reason": "one\n\ttwo"}); o.Pending() == nil {
		t.Errorf("a reason of two lines: got %s", o.Code())
	}
}

// FuzzSentence: whatever a row is called, the sentence shows all that it holds,
// has a bounded length and no second quotation.
func FuzzSentence(f *testing.F) {
	for _, name := range []string{"Leo", "Leo\u202e", "“”\"", "\x00", "a b", "\xff"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		lion := leo
		lion.Name = name
		sentence := lion.Message().String()
		if err := plaintext.Check(sentence, false); err != nil {
			t.Fatalf("%q: the sentence %q %v", name, sentence, err)
		}
		if most := utf8.RuneCountInString("Free “…” (LION-7), kept by Ann Lee, for USD 1,000?") + tool.MaxName; utf8.RuneCountInString(sentence) > most {
			t.Fatalf("%q: the sentence has %d characters, more than %d", name, utf8.RuneCountInString(sentence), most)
		}
		if strings.Count(sentence, "“") > 1 || strings.Count(sentence, "”") > 1 {
			t.Fatalf("%q closes its quotation: %q", name, sentence)
		}
	})
}

func TestQuotedCardIsApplied(t *testing.T) {
	lion := leo
	lion.Legend = "Old."
	r := zoo(t, lion)
	o := freeing(t, r, map[string]any{"lion": "LION-7", "reason": "Why not"})
	if got := r.Answer(testkit.As(t, "ann", access.Employee), o.Pending().ID, true, ""); got.Message() != "Done." {
		t.Errorf("got %s", r.Encode(got))
	}
}
