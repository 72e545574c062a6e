package main

import (
	"strings"
	"testing"

	"countersign.dev/internal/commandline"
)

// A wrong command line is found before anything is asked of a gateway, and its error
// has the usage; 127.0.0.1:1 does not answer.
func TestWrongCommandLinesAreUsageErrors(t *testing.T) {
	t.Parallel()
	alice := []string{"--as", "alice.chen", "--url", "http://127.0.0.1:1"}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"chat: a flag":             {[]string{"chat", "--nope"}, "not defined: -nope"},
		"chat: an operand":         {append([]string{"chat", "hello"}, alice...), "--once"},
		"chat: no question":        {append([]string{"chat", "--once", " "}, alice...), "--once"},
		"chat: no person":          {[]string{"chat"}, "no person is named"},
		"chat: two persons":        {append([]string{"chat", "--token", "t"}, alice...), "--token and --as"},
		"chat: no address":         {[]string{"chat", "--as", "alice.chen", "--url", "localhost:3100"}, "http://"},
		"call: a flag":             {[]string{"call", "list_employees", "--nope"}, "not defined: -nope"},
		"call: no tool":            {append([]string{"call"}, alice...), "name one tool"},
		"call: an empty tool":      {append([]string{"call", ""}, alice...), "name one tool"},
		"call: three operands":     {append([]string{"call", "a", "{}", "{}"}, alice...), "name one tool"},
		"call: no JSON":            {append([]string{"call", "a", "{"}, alice...), "JSON object"},
		"call: no object":          {append([]string{"call", "a", "[1]"}, alice...), "JSON object"},
		"call: null":               {append([]string{"call", "a", "null"}, alice...), "JSON object"},
		"call: no person":          {[]string{"call", "a"}, "no person is named"},
		"token: a flag":            {[]string{"token", "alice.chen", "--json"}, "not defined: -json"},
		"token: no person":         {[]string{"token"}, "name one person"},
		"token: an empty person":   {[]string{"token", ""}, "name one person"},
		"token: two persons":       {[]string{"token", "a", "b"}, "name one person"},
		"token: no address":        {[]string{"token", "alice.chen", "--url", ""}, "http://"},
		"tools: an operand":        {append([]string{"tools", "hr"}, alice...), "no operands"},
		"eval: a flag":             {[]string{"eval", "--nope"}, "not defined: -nope"},
		"eval: an operand":         {[]string{"eval", "questions.yaml"}, "no operands"},
		"eval: an empty model":     {append([]string{"eval", "--model", "a,,b"}, alice...), "--model"},
		"eval: two persons":        {append([]string{"eval", "--token", "t"}, alice...), "--token and --as"},
		"eval: a token for a demo": {[]string{"eval", "--token", "t"}, "--token needs --url"},
		"eval: an empty address":   {[]string{"eval", "--url", ""}, "http://"},
		"demo: too high a port":    {[]string{"demo", "--port", "65500"}, "at most 65455"},
		"demo: no port":            {[]string{"demo", "--port", "-1"}, "at most 65455"},
		"approve: no folder":       {[]string{"approve"}, "--local"},
		"approve: two changes":     {[]string{"approve", "--local", ".", "a", "b"}, "one change"},
		"audit: a flag":            {[]string{"audit", "verify", "a.jsonl", "--nope"}, "not defined: -nope"},
		"audit: nothing":           {[]string{"audit"}, "expected: audit verify"},
		"audit: no log":            {[]string{"audit", "verify"}, "expected: audit verify"},
		"audit: another verb":      {[]string{"audit", "check", "a.jsonl"}, "expected: audit verify"},
		"audit: no head":           {[]string{"audit", "verify", "a.jsonl", "--expect-head", "x"}, "HASH/COUNT"},
		"audit: no Redis":          {[]string{"audit", "verify", "a.jsonl", "--redis", "nonsense"}, "redis://"},
		"audit: no key":            {[]string{"audit", "verify", "a.jsonl", "--key", "x"}, "43 characters"},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), program{args: c.args, getenv: func(string) string { return "" }, in: strings.NewReader(""), out: &out, err: &errs})
		if said := errs.String(); code != commandline.ExitUsage || out.Len() > 0 || !strings.Contains(said, c.says) || !strings.Contains(said, "\nusage: countersign "+c.args[0]+" ") {
			t.Errorf("%s: exit %d, %q; want %d with the usage and %q", name, code, said, commandline.ExitUsage, c.says)
		}
	}
}

// An environment's token is no second person: --as names who asks.
func TestPersonOfTheCommandLineIsTaken(t *testing.T) {
	t.Parallel()
	token := func(name string) string { return map[string]string{"COUNTERSIGN_TOKEN": "t"}[name] }
	if _, code := runWith(t, token, "tools", "--as", "alice.chen", "--url", "http://127.0.0.1:1"); code != commandline.ExitFailed {
		t.Errorf("exit %d, want %d: the command line is right", code, commandline.ExitFailed)
	}
}
