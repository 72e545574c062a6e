package app

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/result"
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
				for _, name := range columnsIn(t, info) {
					if f.Output[name].Label == "" && ofCompany(server) && !strings.HasSuffix(strings.ToLower(name), "id") && name[0] != '_' {
						said = append(said, labelOf(name))
					}
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

// ofCompany reports whether a server's rows are those of a company's domains. Tasks and places in code are
// drawn by their own names.
func ofCompany(server string) bool {
	return slices.Contains([]string{"hr", "finance", "sales", "support"}, server)
}

// columnsIn are the fields of the rows of an answer, or of the one thing that it has.
func columnsIn(t *testing.T, info result.ToolInfo) []string {
	t.Helper()
	data, _ := answerSchemas(t, info)["SuccessResponse"]["data"].(schema)
	if items, is := data["items"].(schema); is {
		data = items
	}
	fields, _ := data["properties"].(schema)
	return slices.Sorted(maps.Keys(fields))
}

// labelOf is what the page makes of the name of a field that has no label.
func labelOf(name string) string {
	words := strings.ToLower(strings.ReplaceAll(camel.ReplaceAllString(name, "$1 $2"), "_", " "))
	return strings.ToUpper(words[:1]) + words[1:]
}

var camel = regexp.MustCompile(`([a-z])([A-Z])`)
