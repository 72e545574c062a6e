package app

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"countersign.dev/web"
)

// pair is a line of one of the page's German lists: `List tasks = Aufgaben`, or `"Name": "Name",`.
var pair = regexp.MustCompile(`(?m)^  "?(\S.*?)(?:": "| = )\S`)

// TestPageKnowsEveryToolInGerman: what the declared tools say to people has German words.
func TestPageKnowsEveryToolInGerman(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, file := range []string{"de.js", "de-data.js", "de-tools.js"} {
		text, err := fs.ReadFile(web.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range pair.FindAllStringSubmatch(string(text), -1) {
			known[line[1]] = true
		}
	}
	for server, tools := range inventory(t) {
		for _, info := range tools {
			sentence, _, more := strings.Cut(info.Description, ". ")
			if more {
				sentence += "."
			}
			said := []string{info.Title, sentence}
			if f := info.Fields; f != nil {
				said = append(said, f.Ask, f.AskOf)
				for _, field := range f.Output {
					said = append(said, field.Label)
				}
			}
			for _, one := range said {
				if one != "" && !known[one] {
					t.Errorf("%s.%s: no German for %q", server, info.Name, one)
				}
			}
		}
	}
}
