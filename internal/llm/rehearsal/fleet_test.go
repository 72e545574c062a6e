package rehearsal

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
)

// fleet is a server of another trade, with the declarations in fleet.json.
func fleet(t *testing.T) *fakeToolbox {
	t.Helper()
	file := load[struct {
		Tools, Closed []result.ToolInfo
		Rows          map[string]json.RawMessage
	}](t, "testdata/fleet.json")
	box := &fakeToolbox{rows: map[string]string{}}
	for _, info := range file.Tools {
		box.Open = append(box.Open, agent.Tool{ToolInfo: info, Server: "fleet"})
	}
	for _, info := range file.Closed {
		box.Closed = append(box.Closed, agent.ClosedTool{Name: info.Name, Sentence: info.Description, Roles: info.Roles, Info: info})
	}
	for name, rows := range file.Rows {
		box.rows[name] = string(rows)
	}
	return box
}

func TestServerThatItHasNeverSeen(t *testing.T) {
	for _, c := range readCorpus(t, "testdata/fleet.txt") {
		converse(t, fleet(t), agent.Person{Name: "Jo Falk", Email: "jo@example.com"}, "fleet", "testdata/fleet.txt", c)
	}
}

// TestDeclinesInOneSentence: what it cannot do it says in one sentence, with
// three things that can be asked.
func TestDeclinesInOneSentence(t *testing.T) {
	for _, question := range []string{"refuel Olga", "what is the weather in Kiel?", "trips that were too long", "sing me a song"} {
		answer := ask(t, fleet(t), agent.Person{}, nil, question).text
		if strings.Count(answer, "“") != 3 || strings.Count(answer, ". ") != 0 || strings.ContainsAny(strings.TrimSuffix(answer, "."), "\n?!") {
			t.Errorf("%q: %s", question, answer)
		}
	}
	if answer := ask(t, fleet(t), agent.Person{}, nil, "trips to the moon by boat").text; !strings.Contains(answer, "List trips") {
		t.Errorf("the likeliest tool is not offered: %s", answer)
	}
}
