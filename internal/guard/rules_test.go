package guard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/testkit"
)

// Rules that the corpora do not decide alone, each with what it must not let pass.
func TestRulesByAnExample(t *testing.T) {
	stored, err := os.ReadFile("testdata/styles.json")
	if err != nil {
		t.Fatal(err)
	}
	var stages map[string]stage
	if err := json.Unmarshal(stored, &stages); err != nil {
		t.Fatal(err)
	}
	paged := stages["queue"].Calls[0] // a page that knows how many rows there are
	paged.Answer = bytes.Replace(paged.Answer, []byte(`"nextCursor":"q"`), []byte(`"nextOffset":6`), 1)
	stages["chat"] = stage{}
	refusal := stageCall{Tool: "approve_budget", Answer: json.RawMessage(`{"status":"error","code":"BUDGET_ALREADY_APPROVED","message":"The 2026 budget of Engineering has been approved before by bob@tamshai.local; its status is active."}`)}
	stages["refused"] = stage{Calls: []stageCall{refusal}}
	refusal.Untrusted = []string{"*"}
	stages["refused elsewhere"] = stage{Calls: []stageCall{refusal}}
	stages["pages"] = stage{Calls: []stageCall{paged}}
	for _, c := range []struct {
		stage, question, answer string
		want                    guard.Kind // empty: no correction
	}{
		{"tasks", "when are the certificates due", "They are due on December 8.", guard.OfTheModel},
		{"tasks", "what should I do first", "Renew the certificates by Tuesday, and take a look at the rest on December 8.", ""},
		{"declined", "so?", "The change was cancelled.", ""},
		{"refused", "Approve the budget of Engineering", "The 2026 budget of Engineering has been approved before by bob@tamshai.local; its status is active.", ""},
		{"refused", "Approve the budget of Engineering", "It could not be approved again. The 2026 budget of Engineering has been approved", guard.Unproven},
		{"refused elsewhere", "Approve the budget of Engineering", "The 2026 budget of Engineering has been approved before by bob@tamshai.local; its status is active.", guard.Unproven},
		{"declined", "so?", "The ticket was closed.", guard.Unproven},
		{"declined", "so?", "The note is “Hello there. I have closed the ticket for you now. Thanks.”, status open.", ""},
		{"declined", "so?", "It says “late”. I closed the ticket. It says “yes. thanks”.", guard.Unproven},
		{"pages", "how many", "57. The first one is TICK-101.", ""},
		{"pages", "how many", "Six. The first one is TICK-101.", guard.Incomplete},
		{"pages", "who has which", "Raj has 97 and 88, Ola has 85, and 51 of them I have not listed.", ""},
		{"staff", "Marcus?", "He was hired on 16.08.2021 and has 145.000 $.", ""},
		{"staff", "Marcus?", "He was hired on 8/16/2021.", ""},
		{"staff", "Marcus?", "He was hired on 8/17/2021.", guard.OfTheModel},
		{"staff", "Marcus?", "He was hired on 17.08.2021 and has 145.100 $.", guard.OfTheModel},
		{"applied", "so?", "It's resolved.", ""},
		{"staff", "Marcus?", "In thousands: Marcus 145, Nina 265.", ""},
		{"staff", "Marcus?", "In thousands: Marcus 147, Nina 265.", guard.OfTheModel},
		{"staff", "Marcus?", "He was hired in Aug '21 and has 145 T$.", ""},
		{"staff", "Marcus?", "He was hired in Aug '22.", guard.OfTheModel},
		{"staff", "Marcus?", "If he got 4 % more he would have $150,800.", ""},
		{"staff", "Marcus?", "He has $150,800.", guard.OfTheModel},
		{"staff", "who is in Lisbon", "Twenty people, among them Sofia.", guard.OfTheModel},
		{"staff", "who is in Lisbon", "Zwei Personen: Sofia und Anne-Marie, mit je über 100 Tsd. $.", ""},
		{"staff", "wer ist in Lissabon", "In der Stadt ist auch Harald Pfeffer.", guard.OfTheModel},
		{"queue", "refund tickets?", "Only a page of them was read; none of it is one.", ""},
		{"queue", "which are there", "Ticket TICK‑101 is the newest, and the list was cut off there.", ""},
		{"chat", "how do I find a ticket", "Tell me its number, for example TICK-123.", ""},
		{"chat", "how do I find a ticket", "Yours is TICK-123.", guard.OfTheModel},
		{"staff", "Marcus?", "His row is 1f000000-0000-0000-0000-000000000000.", guard.OfTheModel},
		{"staff", "Marcus?", "He was hired on the 17TH AUG 2021.", guard.OfTheModel},
		{"staff", "Marcus?", "He was hired on the 16th AUG 2021.", ""},
		{"staff", "Marcus?", "He is one of the Johnsons.", ""},
		{"chat", "how long until christmas", "From today, November 22, it's 33 days until December 25.", ""},
		{"chat", "how long until christmas", "From today, November 22, it's 25 days until December 25.", ""},
		{"chat", "can I be off 21 to 31 December", "Dec 21–31 has nine weekdays.", ""},
		{"chat", "kann ich vom 21. bis 31. Dezember frei haben", "Vom 21. bis 31. Dezember sind es neun Arbeitstage, also Dec 21-31.", ""},
		{"staff", "can I be off 21 to 29 December", "You have asked for Dec 21–30.", guard.OfTheModel},
		{"staff", "what if Marcus earned what Nina does", "Together they would cost $1,526,500.", ""},
		{"staff", "what do Marcus, Nina and the others earn", "Together they cost $1,526,500.", guard.OfTheModel},
		{"staff", "what is 145k a month", "Marcus has $145,000, about $12,083 a month; Nina's $265,000 are $66,250 a quarter.", ""},
		{"staff", "what is 145k a month", "Marcus has $145,000, about $13,083 a month.", guard.Computed},
		{"staff", "what if everyone had at least 150k?", "Marcus has $145,000, Jonas $118,000 and Anne-Marie $104,000: up to there it would take $83,000.", ""},
		{"staff", "what if everyone had at least 150k?", "Marcus has $145,000, Jonas $118,000 and Anne-Marie $104,000: up to there it would take $84,000.", guard.Computed},
		{"staff", "per hour?", "Assuming 50 paid weeks of 38 hours: $145,000 ÷ (50 × 38) = $76.32 per hour.", ""},
		{"staff", "per hour?", "Assuming 50 paid weeks of 38 hours: $145,000 ÷ (50 × 38) = $86.32 per hour.", guard.Computed},
		{"staff", "a late fee of 1.5 % a month for 14 days?", "For 14 days of 30: $145,000 × 1.5% × 14 ÷ 30 = $1,015.", ""},
		{"staff", "a late fee of 1.5 % a month for 14 days?", "For 14 days of 30: $145,000 × 1.5% × 14 ÷ 30 = $1,215.", guard.OfTheModel},
		{"staff", "how long is Marcus here", "Hired on 16 August 2021, so 5 years and 3 months.", ""},
		{"staff", "Nina?", "Hired on 6 March 2017, 9 years and 8 months ago.", ""},
		{"staff", "what if he got 4 % a year", "After two raises he would have $156,832.", guard.Computed},
		{"staff", "what if he got 4 % a year", "He would have $150,800 after one raise, and $156,832 after two.", ""},
		{"staff", "the average of the three?", "Nina has $265,000, Marcus $145,000 and Tyler $168,000: $192,667 on average.", ""},
		{"staff", "the average of the three?", "Nina has $265,000, Marcus $145,000 and Tyler $168,000: $192,967 on average.", guard.OfTheModel},
		{"staff", "where is he in his band?", "Wei has $151,000; between Marcus's $145,000 and Tyler's $168,000 that is 26% of the way.", ""},
		{"staff", "what is that a week?", "Marcus has $145,000; in the 5½ weeks from today to December 30 that would be $26,400 each.", ""},
		{"staff", "open people?", "Both are assigned to Seattle.", ""},
		{"staff", "any year without a hire?", "Nobody was hired in 2019 or 2024, as far as I can see; Tyler came on 1/14/2019.", ""},
		{"staff", "when was Sofia hired", "Sofia was hired on 5/21.", ""},
		{"staff", "how far is the quarter", "We are 53 days into a 92-day quarter.", ""},
		{"staff", "how far is the quarter", "We are 61 days into a 92-day quarter.", guard.OfTheModel},
		{"staff", "how long are they here", "Wei Zhang: Apr 17, 2023 (3.6 years)", ""},
		{"staff", "how long are they here", "Wei Zhang: Apr 17, 2023 (27.3 years)", guard.OfTheModel},
		{"staff", "how are we doing", "We've closed $145,000 so far.", ""},
		{"staff", "close the deal", "We've closed $145,000 so far.", guard.Unproven},
		{"staff", "who do I talk to", "Both are assigned to him.", ""},
		{"staff", "table of months", "| June | 6 |\n| July | 3 |", ""},
		{"staff", "Nina?", "She was hired on Mar 6, 2017.", ""},
		{"staff", "Nina?", "She was hired on 7 Mar 2017.", guard.OfTheModel},
		{"staff", "Gehalt von Jonas und von Marcus", "Marcus hat +27.000 $ gegenüber Jonas, andere Angestellte liegen darüber.", ""},
		{"staff", "approve it", "It is open: nobody has approved it.", ""},
		{"staff", "due before christmas?", "Nothing is due until Dec 24.", ""},
		{"staff", "anything due?", "Nothing is due until Dec 24.", guard.OfTheModel},
		{"staff", "Marcus?", "He has $145,000, and $152,000 with his bonus.", guard.OfTheModel},
		{"staff", "Marcus?", "He has $145,000. At that pace he'd have $152,000 in two years.", guard.Computed},
		{"staff", "Marcus?", "- Salary: $145,000\n- Per month: $12,500", guard.Computed},
		{"staff", "Marcus?", "| Name | Salary | Per week |\n|---|---|---|\n| Marcus | $145,000 | $2,822 |", guard.Computed},
		{"staff", "Marcus?", "| Name | Salary | Bonus |\n|---|---|---|\n| Marcus | $145,000 | $2,822 |", guard.OfTheModel},
		{"staff", "Marcus?", "He is on level 57 now.", ""},
		{"staff", "Marcus?", "He leads 57 people.", guard.OfTheModel},
		{"staff", "Marcus?", "He has $145,000 and is off on December 25, a company holiday.", ""},
		{"staff", "Marcus?", "He starts on December 9.", guard.OfTheModel},
		{"staff", "what is 30 days after Marcus's date?", "He was hired on August 16, 2021; 30 days later was September 15, 2021.", ""},
		{"chat", "what is p95?", "The time that 95% of requests stay below.", ""},
		{"chat", "my vacation?", "You have 95% of it left.", guard.OfTheModel},
		{"staff", "Marcus?", "Wir schicken ihm Herzliche Grüße. Andere Standorte sind es nicht.", ""},
		{"staff", "wer ist in Lissabon?", "Die Stelle in Lissabon hat Harald Pfeffer.", guard.OfTheModel},
		{"staff", "Nina?", "Her salary has been raised twice.", ""},
		{"staff", "Nina?", "Her salary has been approved.", guard.Unproven},
		{"queue", "what is open?", "Four of the first six; I have not seen the other 51.", ""},
		{"queue", "what is open?", "Four of the first six; I have not seen the other 49 tickets.", guard.OfTheModel},
		{"staff", "Marcus?", "The list was slow; please try again in 90 minutes.", ""},
		{"queue", "what is TICK-101 about?", "TICK-101 is about a refund.", ""},
		{"queue", "which tickets are there?", "TICK-101 is about a refund.", guard.Incomplete},
		{"staff", "seit wann ist Marcus hier?", "Er ist seit dem 3. MÄRZ 2021 hier.", guard.OfTheModel},
	} {
		got := guard.Check(guard.Answer{After: c.answer}, stages[c.stage].evidence(c.question, 22))
		if (c.want == "") != (len(got) == 0) || c.want != "" && got[0].Kind != c.want {
			t.Errorf("%s: %+v, want %q", c.answer, got, c.want)
		}
	}
}

// TestPatternsFindNoMoreThanParticiples: sentences without one are not matched with the
// patterns that report a change, so none of these may find any.
func TestPatternsFindNoMoreThanParticiples(t *testing.T) {
	testkit.Alone(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var sentences []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sentences = append(sentences, strings.Split(string(text), "\n")...)
	}
	for _, word := range guard.Participles() {
		for _, frame := range []string{"The card is (%s).", "It has been — %s.", "%s: 4 rows", "It is now %s…", "successfully %s\u00a0now", "é has been %s", "Yes, %s it", "It’s %s, and so on"} {
			sentences = append(sentences, fmt.Sprintf(frame, strings.ToUpper(word[:1])+word[1:]), fmt.Sprintf(frame, word))
		}
	}
	matched := 0
	for _, s := range sentences {
		has, found := guard.Participle(s)
		if found && !has {
			t.Errorf("%q reports a change, and has no word for one", s)
		}
		if found {
			matched++
		}
	}
	if matched < 500 {
		t.Errorf("%d of %d sentences report a change, want 500", matched, len(sentences))
	}
}
