package rehearsal

import (
	"os"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

// A corpus file holds conversations. A line "name: question" starts one, "then:
// question" goes on with it; the indented lines below say what must come of it:
//
//	calls: a; b      exactly these calls in this order (arguments may be left out)
//	call: a {"x":1}  one of the calls
//	says: text       the answer holds it, whatever the case
//	never: text      the answer does not hold it
//	asks             the answer is a question of ours
//	declines         nothing is changed, and the answer says what can be done
//	refuses: role    nothing closed is called, and the roles are named
//	card: text       a change waits, and its card holds the text
type conversation struct {
	who   string
	turns []exchange
}

type exchange struct {
	line     int
	question string
	checks   []string
}

func readCorpus(t testing.TB, path string) []conversation {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []conversation
	for n, line := range strings.Split(string(raw), "\n") {
		text := strings.TrimSpace(line)
		switch who, question, _ := strings.Cut(text, ":"); {
		case text == "" || strings.HasPrefix(text, "#"):
		case strings.HasPrefix(line, " "):
			last := &out[len(out)-1]
			turn := &last.turns[len(last.turns)-1]
			turn.checks = append(turn.checks, text)
		case who == "then":
			last := &out[len(out)-1]
			last.turns = append(last.turns, exchange{n + 1, strings.TrimSpace(question), nil})
		default:
			out = append(out, conversation{who, []exchange{{n + 1, strings.TrimSpace(question), nil}}})
		}
	}
	return out
}

// turnResult is what came of one turn.
type turnResult struct {
	text     string
	calls    []string
	pendings []string
	messages []agent.Message
}

// model is asked everything: what it reads of declarations it reads once.
var model = New()

func ask(t testing.TB, box agent.Toolbox, who agent.Person, history []agent.Message, question string) turnResult {
	t.Helper()
	var s turnResult
	for e, err := range agent.Run(t.Context(), agent.Turn{Model: model, Toolbox: box, Person: who, History: history, Question: question, Now: today}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.TextDelta:
			if s.text += e.Text; e.Source != "" {
				t.Errorf("%q: the gateway had to add %q", question, e.Text)
			}
		case agent.ToolStarted:
			s.calls = append(s.calls, e.Call.Tool+" "+string(e.Call.Args))
		case agent.Pending:
			s.pendings = append(s.pendings, e.Outcome.Pending().Message)
		case agent.Done:
			s.messages = append(history, e.Messages...)
		}
	}
	return s
}

func TestCorpus(t *testing.T) {
	testkit.Alone(t)
	full := hrTools(t)
	for declarations, tools := range map[string][]result.ToolInfo{"full declarations": full, "terse declarations": tersely(t, full)} {
		for _, file := range []string{"testdata/questions.txt", "testdata/hostile.txt"} {
			for _, c := range readCorpus(t, file) {
				who := people[c.who]
				converse(t, newFakeHR(t, who, tools), who.Person, declarations, file, c)
			}
		}
	}
}

func converse(t *testing.T, box agent.Toolbox, who agent.Person, declarations, file string, c conversation) {
	var history []agent.Message
	for _, turn := range c.turns {
		s := ask(t, box, who, history, turn.question)
		history = s.messages
		for _, check := range turn.checks {
			if fault := s.check(check); fault != "" {
				t.Errorf("%s:%d (%s): %s: %q: %s\ncalls: %s\ncards: %q\nanswer: %s\n", file, turn.line, declarations, c.who, turn.question, fault, strings.Join(s.calls, "; "), s.pendings, cut(s.text))
				break
			}
		}
	}
}

func cut(text string) string {
	if len(text) > 500 {
		return text[:500] + "…"
	}
	return text
}

// check returns what is wrong, or nothing.
func (s turnResult) check(check string) string {
	kind, value, _ := strings.Cut(check, ":")
	value = strings.TrimSpace(value)
	has := strings.Contains(strings.ToLower(s.text), strings.ToLower(value))
	ok := false
	switch kind {
	case "calls":
		ok = sameCalls(s.calls, value)
	case "call":
		for _, c := range s.calls {
			ok = ok || strings.HasPrefix(c, value) || c == value
		}
	case "says":
		ok = has
	case "never":
		ok = !has && !strings.Contains(strings.Join(s.calls, " "), value)
	case "asks":
		ok = lexicon.Asks(s.text)
	case "declines":
		ok = len(s.pendings) == 0 && strings.HasPrefix(s.text, "I can't do that here")
	case "refuses":
		ok = has && strings.Contains(s.text, "one of these roles")
	case "card":
		ok = len(s.pendings) > 0 && strings.Contains(strings.Join(s.pendings, " "), value)
	case "no card":
		ok = len(s.pendings) == 0
	default:
		return "unknown check " + check
	}
	if ok {
		return ""
	}
	return check
}

func sameCalls(got []string, want string) bool {
	parts := strings.Split(want, ";")
	if want == "" {
		return len(got) == 0
	}
	if len(got) != len(parts) {
		return false
	}
	for i, p := range parts {
		if !strings.HasPrefix(got[i], strings.TrimSpace(p)) {
			return false
		}
	}
	return true
}
