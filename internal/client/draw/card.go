package draw

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
)

// technical names the fields of a card that are about the request, not about the
// change.
var technical = []string{"action", "mcpServer", "userId", "username", "timestamp", "expiresAt", "confirmationId", "approvalUrl", "conversationId", "digest", "quotes", "warning", result.KeyProvenance}

// askedFor says where a change was asked for, by the surface of its provenance.
var askedFor = map[string]string{
	"chat":     "Asked for in the chat",
	"terminal": "Asked for in a chat of a terminal or another program",
	"api":      "Asked for by a direct call of the API",
	"mcp":      "Asked for by an MCP client",
	"server":   "Asked for at the server itself, not through the gateway",
}

// quote is free text on a card, with its author.
type quote struct{ Field, Author, Text string }

// Card prints a change that waits: the question, the facts as their fields are
// declared, and quotations with their authors, each line of which is marked. A fact
// that is quoted is not repeated. Nothing can move the cursor or hide: odd characters
// are escaped.
func Card(w io.Writer, p *result.Pending, fields map[string]result.Field) {
	fmt.Fprintf(w, "\n%s\n", plaintext.Escape(p.Message, true))
	if words := askedFor[surfaceOf(p.Data)]; words != "" {
		fmt.Fprintf(w, "  %s\n", words)
	}
	if texts := readBefore(p.Data); len(texts) > 0 {
		fmt.Fprintf(w, "  The assistant had read %s before it asked for this.\n", plaintext.Escape(strings.Join(texts, ", "), false))
	}
	quotes := quotesOf(p.Data)
	for _, name := range slices.Sorted(maps.Keys(p.Data)) {
		quoted := slices.ContainsFunc(quotes, func(q quote) bool { return q.Field == name })
		if !quoted && !slices.Contains(technical, name) && p.Data[name] != nil && p.Data[name] != "" {
			fmt.Fprintf(w, "  %s: %s\n", labelsOf([]string{name}, fields)[0], factText(p.Data, name, fields[name]))
		}
	}
	for _, q := range quotes {
		fmt.Fprintf(w, "  %s, %s:\n", labelOf(q.Field), plaintext.Escape(q.Author, false))
		for line := range strings.SplitSeq(plaintext.Escape(q.Text, true), "\n") {
			fmt.Fprintf(w, "    | %s\n", line)
		}
	}
	fmt.Fprintf(w, "Waiting for your approval: %s\n", plaintext.Escape(p.ID, false))
}

// WhereToAnswer is the line that says where a change is approved or denied, when its
// card names the page.
func WhereToAnswer(p *result.Pending) string {
	page, _ := p.Data["approvalUrl"].(string)
	if page == "" {
		return ""
	}
	return "Approve or deny it within five minutes: " + plaintext.Escape(page, false) + "\n"
}

func surfaceOf(data map[string]any) string {
	provenance, _ := data[result.KeyProvenance].(map[string]any)
	surface, _ := provenance["surface"].(string)
	return surface
}

// readBefore names what others wrote and the assistant had read: the wish may be
// theirs.
func readBefore(data map[string]any) (texts []string) {
	provenance, _ := data[result.KeyProvenance].(map[string]any)
	list, _ := provenance["tainted_by"].([]any)
	for _, item := range list {
		var source access.Source
		encoded, err := json.Marshal(item)
		if err == nil && json.Unmarshal(encoded, &source) == nil {
			texts = append(texts, source.String())
		}
	}
	return texts
}

func quotesOf(data map[string]any) (quotes []quote) {
	encoded, err := json.Marshal(data["quotes"])
	if err != nil || json.Unmarshal(encoded, &quotes) != nil {
		return nil
	}
	return quotes
}

// factText is a fact on one line: an amount with its currency, a state and a moment as
// people write them, another value as it is.
func factText(data map[string]any, name string, f result.Field) string {
	switch value := data[name].(type) {
	case string:
		return plaintext.Escape(textOf(f.State(name, value)), false)
	case bool:
		return f.Text(value, "")
	}
	encoded, err := json.Marshal(data[name])
	switch {
	case err != nil:
		return "?"
	case f.Unit != "":
		currency, _ := data["currency"].(string)
		return plaintext.Escape(f.Figure(string(encoded), currency), false)
	}
	return plaintext.Escape(string(encoded), false)
}
