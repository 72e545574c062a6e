package rehearsal

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
)

func TestZZDump(t *testing.T) {
	path := os.Getenv("ZZDUMP")
	if path == "" {
		t.Skip()
	}
	f, _ := os.Create(path)
	defer f.Close()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	b := build(t)
	dump := func(file string, box agent.Toolbox, who agent.Person, c conversation) {
		var history []agent.Message
		for _, turn := range c.turns {
			s := ask(t, box, who, history, turn.question)
			history = s.messages
			_ = enc.Encode(map[string]any{"at": file, "line": turn.line, "who": c.who, "q": turn.question, "calls": s.calls, "cards": s.pendings, "text": s.text})
		}
	}
	for _, file := range []string{"testdata/office.txt", "testdata/words.txt", "testdata/board.txt", "testdata/first.txt", "testdata/readme.txt", "testdata/answers.txt", "testdata/questions.txt", "testdata/hostile.txt"} {
		for _, c := range readCorpus(t, file) {
			who, down, _ := strings.Cut(c.who, " without ")
			who, gone, _ := strings.Cut(who, " lacking ")
			o := b.as(t, who)
			o.down, o.gone = down, gone
			dump(file, o, o.fakeHR.person.Person, c)
		}
	}
	for _, c := range readCorpus(t, "testdata/fleet.txt") {
		dump("fleet", fleet(t), agent.Person{Name: "Jo Falk", Email: "jo@example.com"}, c)
	}
}
