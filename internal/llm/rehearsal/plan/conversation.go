package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// How the planner's questions begin: by this it recognises them in the next turn.
const (
	AskWhich = "Which one: "
	AskWhat  = "What should "
	AskWhom  = "Which "
	AskWhy   = "Why was "
)

// conversation is the history as the planner needs it.
type conversation struct {
	question string        // what the person wants
	answers  []string      // their answers to our questions about it, in order
	known    calls         // the answers of the calls for it
	said     string        // the last message of the person, whatever it belongs to
	page     *speak.Answer // the last incomplete list before it
	shown    int           // how many rows of that list were shown
	waiting  bool          // a change was waiting for approval before it
}

// read finds the open question, in the person's words only: tools answer data. An
// answer that is a question by itself begins anew.
func read(messages []agent.Message, isQuestion func(string) bool) (c conversation) {
	last := lastOfUser(messages)
	if last < 0 {
		return c
	}
	for _, a := range answersIn(messages[:last]) {
		if _, list := a.Data.([]any); !list {
			continue
		}
		if a.Args["cursor"] == nil {
			c.shown = 0
		}
		c.page, c.shown = a, c.shown+len(a.Rows)
	}
	if c.page != nil && c.page.Next == "" {
		c.page = nil
	}
	c.waiting = slices.ContainsFunc(answersIn(messages[max(0, last-2):last]), func(a *speak.Answer) bool { return a.Pending })
	first := last
	for first > 0 && asks(messages[first-1]) && lastOfUser(messages[:first]) >= 0 && !isQuestion(messages[first].Text()) {
		c.answers = append([]string{messages[first].Text()}, c.answers...)
		first = lastOfUser(messages[:first])
	}
	c.question, c.said, c.known = messages[first].Text(), messages[last].Text(), calls{known: answersIn(messages[first:])}
	return c
}

func lastOfUser(messages []agent.Message) int {
	i := len(messages) - 1
	for i >= 0 && messages[i].Role != agent.User {
		i--
	}
	return i
}

// asks reports whether a message is a question of ours.
func asks(m agent.Message) bool {
	begins := func(with string) bool { return strings.HasPrefix(m.Text(), with) }
	return m.Role == agent.Assistant && len(m.Calls()) == 0 && slices.ContainsFunc([]string{AskWhich, AskWhat, AskWhom, AskWhy}, begins)
}

// answersIn returns the answers of the calls, in order.
func answersIn(messages []agent.Message) (out []*speak.Answer) {
	called := map[string]agent.Call{}
	for _, m := range messages {
		for _, c := range m.Calls() {
			called[c.ID] = c
		}
		for _, res := range m.Results() {
			if c, ok := called[res.ID]; ok {
				out = append(out, speak.NewAnswer(c, res))
			}
		}
	}
	return out
}

// Call is a call that has to be made before the plan can go on.
type Call struct {
	Tool string
	Args map[string]any

	writes bool
}

// calls are the answers that are known, and the calls that are still wanted.
type calls struct {
	known  []*speak.Answer
	wanted []Call
}

// fetch returns the answer of a call; where it is not known, the plan waits for it.
func (c *calls) fetch(t *match.Tool, args map[string]any) *speak.Answer {
	key := callKey(t.Info.Name, args)
	for _, a := range slices.Backward(c.known) {
		if callKey(a.Tool, a.Args) == key {
			return a
		}
	}
	if !slices.ContainsFunc(c.wanted, func(w Call) bool { return callKey(w.Tool, w.Args) == key }) {
		c.wanted = append(c.wanted, Call{Tool: t.Info.Name, Args: args, writes: t.Writes()})
	}
	panic(end{state: waiting})
}

// maxPages bounds how far a list is read to count it or to find something.
const maxPages = 6

// fetchPages reads a list, at most so many pages of it, as one answer. A failure
// ends the plan.
func (c *calls) fetchPages(t *match.Tool, args map[string]any, pages int) *speak.Answer {
	all := &speak.Answer{}
	for range pages {
		a := *c.fetch(t, args)
		if a.Failed {
			panic(end{said, speak.Failure(t, &a)})
		}
		a.Rows = append(all.Rows, a.Rows...)
		if all = &a; a.Next == "" {
			break
		}
		args = with(args, "cursor", a.Next)
	}
	return all
}

// with is a copy of arguments with one more.
func with(args map[string]any, name string, value any) map[string]any {
	more := maps.Clone(args)
	more[name] = value
	return more
}

// callKey is the same for the same call, however its arguments were encoded.
func callKey(tool string, args map[string]any) string {
	b, _ := json.Marshal(args) // keys sorted; plain values always encode
	return tool + " " + string(b)
}
