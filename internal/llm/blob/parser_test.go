package blob

import (
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
)

// parse reads a text in pieces, and returns the text and the calls in it.
func parse(pieces ...string) (text, calls string) {
	var t strings.Builder
	var found []string
	p := &parser{
		text: func(s string) bool { t.WriteString(s); return true },
		call: func(c agent.Call) bool { found = append(found, fmt.Sprintf("%s %s", c.Tool, c.Args)); return true },
	}
	for _, piece := range pieces {
		p.write(piece)
	}
	p.end()
	return t.String(), strings.Join(found, "; ")
}

const listing = `{ "tool": "list_employees", "arguments": {"limit": 5} }`

func TestCallsAreFoundInText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, text, calls string }{
		{"text alone", "There are 5 {braces} and `code`.", "There are 5 {braces} and `code`.", ""},
		{"a call alone", listing, "", `list_employees {"limit": 5}`},
		{"prose around it", "I look.\n" + listing + "\nOne moment.", "I look.\n\nOne moment.", `list_employees {"limit": 5}`},
		{"in a line of prose", "Calling " + listing + " now", "Calling  now", `list_employees {"limit": 5}`},
		{"a fence", "I look.\n```json\n" + listing + "\n```\nDone.", "I look.\n\nDone.", `list_employees {"limit": 5}`},
		{"a fence without a language", "```\n" + listing + "\n```", "", `list_employees {"limit": 5}`},
		{"backticks", "`" + listing + "`", "", `list_employees {"limit": 5}`},
		{"two calls", listing + "\n" + listing, "", `list_employees {"limit": 5}; list_employees {"limit": 5}`},
		{"two calls in a fence", "```json\n" + listing + "\n" + listing + "\n```", "", `list_employees {"limit": 5}; list_employees {"limit": 5}`},
		{"a list of calls", "[\n " + listing + ",\n " + listing + "\n]\nSo.", "So.", `list_employees {"limit": 5}; list_employees {"limit": 5}`},
		{"a list in a fence", "```json\n[" + listing + "]\n``` and `code`", "and `code`", `list_employees {"limit": 5}`},
		{"braces in strings", `{"tool":"say","arguments":{"text":"a } \" {\\"}}!`, "!", `say {"text":"a } \" {\\"}`},
		{"arguments first", `{"arguments":{"a":1},"tool":"t"}`, "", `t {"a":1}`},
		{"no arguments", `{"tool":"t"}`, "", `t `},
		{"null arguments", `{"tool":"t","arguments":null}`, "", `t `},
		{"arguments as a text", `{"tool":"t","arguments":"{\"a\":1}"}`, "", `t {"a":1}`},
		{"an invented tool", `{"tool":"weather","arguments":{}}`, "", `weather {}`},
		{"wrong arguments", `{"tool":"t","arguments":[1]}`, "", `t [1]`},
		{"half an object", `Look: {"tool":"t","arguments":{"a":`, "Look: ", `t {"tool":"t","arguments":{"a":`},
		{"half a name", `{"to`, "", ` {"to`},
		{"no JSON", `{"tool":"t","arguments":{a:1,}}`, "", `t {"tool":"t","arguments":{a:1,}}`},
		{"another object", `It is {"name":"x","tool":1}.`, `It is {"name":"x","tool":1}.`, ""},
		{"an example inside of another object", `{"example":` + listing + `} is one.`, `{"example":` + listing + `} is one.`, ""},
		{"another object in a fence", "```json\n{\"rows\":[1]}\n```", "```json\n{\"rows\":[1]}\n```", ""},
		{"a brace at the end", "A brace {", "A brace {", ""},
		{"a fence of code", "```go\nfunc f() {}\n```", "```go\nfunc f() {}\n```", ""},
		{"a word that begins alike", `{"tools":[1]}`, `{"tools":[1]}`, ""},
		{"a call, then another object", listing + ` {"a":1}`, `{"a":1}`, `list_employees {"limit": 5}`},
		{"a call, then a brace", listing + " {x}", "{x}", `list_employees {"limit": 5}`},
		{"a link and a list", "[a](b) and [1]", "[a](b) and [1]", ""},
	} {
		text, calls := parse(c.in)
		if text != c.text || calls != c.calls {
			t.Errorf("%s: got %q and %q, want %q and %q", c.name, text, calls, c.text, c.calls)
		}
		if text, calls := parse(strings.Split(c.in, "")...); text != c.text || calls != c.calls {
			t.Errorf("%s, by characters: got %q and %q, want %q and %q", c.name, text, calls, c.text, c.calls)
		}
	}
}

// How a text is cut into pieces changes nothing, and of a call nothing is shown.
func FuzzText(f *testing.F) {
	f.Add("I look.\n```json\n["+listing+","+listing+"]\n``` and `{x` {\"a\":{}} ", 3)
	f.Add(`{"tool":"a","arguments":{"b":"\"}{"}} {"to`, 1)
	f.Add("`[ {\"arguments\" ", 5)
	f.Fuzz(func(t *testing.T, in string, size int) {
		text, calls := parse(in)
		size = max(1, size%16)
		var pieces []string
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if cutText, cutCalls := parse(pieces...); cutText != text || cutCalls != calls {
			t.Errorf("in pieces of %d: got %q and %q, want %q and %q", size, cutText, cutCalls, text, calls)
		}
		before, after := "Words. ", " More."
		if shown, found := parse(before + listing + after); shown != before+after || found == "" {
			t.Errorf("got %q and %q", shown, found)
		}
		if shown, _ := parse(listing + in); strings.HasPrefix(strings.TrimSpace(shown), listing) {
			t.Errorf("a call is shown: %q", shown)
		}
	})
}
