package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// Call is a call that has to be made before the plan can go on.
type Call struct {
	Tool string
	Args map[string]any

	writes bool
}

// calls are the answers that are known, and the calls that are still wanted.
type calls struct {
	known  map[string]*speak.Answer
	wanted []Call
}

// fetch returns the answer of a call, or asks for the call.
func (c *calls) fetch(t *match.Tool, args map[string]any) (*speak.Answer, bool) {
	key := callKey(t.Info.Name, args)
	if a, ok := c.known[key]; ok {
		return a, true
	}
	if !slices.ContainsFunc(c.wanted, func(w Call) bool { return callKey(w.Tool, w.Args) == key }) {
		c.wanted = append(c.wanted, Call{Tool: t.Info.Name, Args: args, writes: t.Writes()})
	}
	return nil, false
}

// maxPages bounds how far a list is read to count it or to find something.
const maxPages = 6

func (c *calls) fetchAll(t *match.Tool, args map[string]any) (speak.Listing, bool) {
	return c.fetchPages(t, args, maxPages)
}

// fetchPages reads a list, page after page, at most that many.
func (c *calls) fetchPages(t *match.Tool, args map[string]any, pages int) (l speak.Listing, ok bool) {
	for range pages {
		a, ok := c.fetch(t, args)
		if !ok {
			return l, false
		}
		l.Rows, l.Last, l.More = append(l.Rows, a.Rows()...), a, a.More
		if !a.More || a.Next == "" || a.Failed || t.Input("cursor") == nil {
			break
		}
		args = maps.Clone(args)
		args["cursor"] = a.Next
	}
	return l, true
}

// callKey is the same for the same call, however its arguments were encoded.
func callKey(tool string, args map[string]any) string {
	b, _ := json.Marshal(args) // keys sorted; plain values always encode
	return tool + " " + string(b)
}
