package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/toolsearch"
)

// FindTools is the name of the search for tools that were not offered.
const FindTools = "find_tools"

// Limits of what a model is offered.
const (
	maxOffered = 40 // tools; with more, a model gets some of them and a search
	coreTools  = 24 // of these it gets always
	maxHits    = 6  // tools that one search finds
	maxFound   = 48 // tools that one conversation finds
)

var findTools = Tool{ToolInfo: result.ToolInfo{
	Name: FindTools, Title: "Find tools", Kind: result.List, Annotations: result.Annotations{ReadOnly: true, Idempotent: true},
	Description: "Find tools that are not offered yet, by what they are for. What is found can be called from the next step on.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"What the tool is for, in a few words: \"create a calendar event\""}},"required":["query"],"additionalProperties":false}`),
}}

// offer is the tools that the requests of a turn offer. Its order is that of the
// earlier requests, with what was found later at the end, so that caches of prompts
// keep the rest.
type offer struct {
	all   Toolset
	shown []Tool
	found []string // by searches of the conversation, in their order
	index *toolsearch.Index
}

// searches reports whether a model gets some of the tools and a search for the rest.
func searches(t Turn, s Toolset) bool {
	return t.Language && len(s.Open) > maxOffered && s.open(FindTools) == nil
}

// newOffer decides which tools the first request of a turn offers.
func newOffer(t Turn, s Toolset) *offer {
	o := &offer{all: s, shown: s.Open, found: slices.Clone(t.Memory.Found)}
	if !searches(t, s) {
		return o
	}
	infos := make([]result.ToolInfo, len(s.Open))
	for i, tool := range s.Open {
		infos[i] = tool.ToolInfo
	}
	o.index = toolsearch.New(infos)
	o.shown = append([]Tool{findTools}, Core(s.Open)...)
	for _, name := range o.found {
		o.show(name)
	}
	return o
}

// Core returns the tools that are always offered: the servers take turns, our own
// first, each with what lists, then what reads, then what changes. A server with many
// tools crowds out no other, and most questions begin with a list.
func Core(open []Tool) []Tool {
	sorted := slices.Clone(open)
	slices.SortFunc(sorted, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(a.Name, b.Name))
	})
	turns := map[string]int{} // how many tools of a server come before
	turn := make(map[string]int, len(sorted))
	for _, t := range sorted {
		turn[t.Name] = turns[t.Server]
		turns[t.Server]++
	}
	slices.SortFunc(sorted, func(a, b Tool) int {
		return cmp.Or(
			cmp.Compare(strings.Count(a.Name, "."), strings.Count(b.Name, ".")),
			cmp.Compare(turn[a.Name], turn[b.Name]), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	})
	return sorted[:min(len(sorted), coreTools)]
}

// weight orders the tools of a server by what they do.
func weight(t Tool) int {
	switch t.Kind {
	case result.List:
		return 0
	case result.Read:
		return 1
	}
	return 2
}

// tool returns the callable tool of that name, offered or not; nil if there is none.
func (o *offer) tool(name string) *Tool {
	if o.index != nil && name == FindTools {
		return &findTools
	}
	return o.all.open(name)
}

func (o *offer) offers(name string) bool {
	return slices.ContainsFunc(o.shown, func(t Tool) bool { return t.Name == name })
}

func (o *offer) show(name string) bool {
	t := o.all.open(name)
	if t == nil || o.offers(name) {
		return false
	}
	o.shown = append(o.shown, *t)
	return true
}

// full is the fault of a search when the conversation has found enough.
func (o *offer) full(name string) error {
	if o.index == nil || name != FindTools || len(o.found) < maxFound {
		return nil
	}
	return fault.TooManyRequests.New("This conversation has found %d tools, which is the limit.", maxFound).Instruct("Use one of them, or ask the person to start a new conversation.")
}

// find answers a search. It changes nothing: see take.
func (o *offer) find(args json.RawMessage) result.Outcome {
	var asked struct{ Query string }
	if err := json.Unmarshal(args, &asked); err != nil || strings.TrimSpace(asked.Query) == "" {
		return result.Failed(fault.ValidationError.New("A search needs a query: what the tool is for."))
	}
	rows := []foundTool{}
	for _, name := range o.index.Search(asked.Query, maxHits) {
		t := o.all.open(name)
		sentence, _, _ := strings.Cut(t.Description, ". ")
		rows = append(rows, foundTool{name, sentence})
	}
	remark := "They can be called from the next step on."
	if len(rows) == 0 {
		remark = "No tool has one of these words. Search once more in other words, then say that it cannot be done here."
	}
	data, _ := json.Marshal(rows) // texts encode
	return result.Success(data, &result.Page{Limit: maxHits, Returned: len(rows), Noun: "tools", Remark: remark}, "")
}

type foundTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// take offers what a search found, and returns the tools that are new.
func (o *offer) take(c Call, found result.Outcome) []Tool {
	if o.index == nil || c.Tool != FindTools {
		return nil
	}
	var rows []foundTool
	_ = json.Unmarshal(found.Data(), &rows) // a failure has none
	before := len(o.shown)
	for _, row := range rows {
		if o.show(row.Name) {
			o.found = append(o.found, row.Name)
		}
	}
	return o.shown[before:]
}

// notYet is the error of a call of a tool that the person may use and the model was
// not offered.
func notYet(name string) error {
	return fault.UnknownTool.New("%s exists, and was not offered to you yet.", name).
		Instruct("Call %s with what you want to do; then call it in the next step.", FindTools)
}

// searchRule says how to find the rest of the tools.
func searchRule(tools int) string {
	return fmt.Sprintf("\n- You are offered some of %d tools. When none of them fits, call %s before you say that something cannot be done.", tools, FindTools)
}
