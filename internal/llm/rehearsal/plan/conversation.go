package plan

import (
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/rehearsal/speak"
)

// How the planner's own questions begin. By these it recognises, in the next
// turn, that it asked.
const (
	AskWhich = "Which one: "
	AskWhat  = "What should "
	AskWhom  = "Which "
)

// conversation is the history as the planner needs it.
type conversation struct {
	question string                   // what the person wants
	answers  []string                 // their answers to our questions about it, in order
	known    map[string]*speak.Answer // the answers of the calls for it
	said     string                   // the last message of the person, whatever it belongs to
	since    map[string]*speak.Answer // the answers of the calls after that message
	page     *speak.Answer            // the last incomplete list before it
	waiting  bool                     // a change was waiting for approval before it
}

// read finds the question that is open. Questions come from the person's words
// only; answers of tools are data.
func read(messages []agent.Message) conversation {
	last := lastOfUser(messages)
	if last < 0 {
		return conversation{known: map[string]*speak.Answer{}, since: map[string]*speak.Answer{}}
	}
	c := conversation{said: messages[last].Text(), since: answersIn(messages[last:])}
	c.page, c.waiting = before(messages[:last])
	first := last
	for first > 0 && asks(messages[first-1]) {
		earlier := lastOfUser(messages[:first])
		if earlier < 0 {
			break
		}
		c.answers = append([]string{messages[first].Text()}, c.answers...)
		first = earlier
	}
	c.question, c.known = messages[first].Text(), answersIn(messages[first:])
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
	text := m.Text()
	return m.Role == agent.Assistant && len(m.Calls()) == 0 &&
		(strings.HasPrefix(text, AskWhich) || strings.HasPrefix(text, AskWhat) || strings.HasPrefix(text, AskWhom))
}

func answersIn(messages []agent.Message) map[string]*speak.Answer {
	out := map[string]*speak.Answer{}
	eachAnswer(messages, func(a *speak.Answer) { out[callKey(a.Tool, a.Args)] = a })
	return out
}

// eachAnswer gives the answers of the calls, in order.
func eachAnswer(messages []agent.Message, do func(*speak.Answer)) {
	calls := map[string]agent.Call{}
	for _, m := range messages {
		for _, c := range m.Calls() {
			calls[c.ID] = c
		}
		for _, res := range m.Results() {
			if c, ok := calls[res.ID]; ok {
				do(speak.NewAnswer(c, res))
			}
		}
	}
}

// before finds the last incomplete list, and whether the last step before the
// question left a change waiting.
func before(messages []agent.Message) (page *speak.Answer, waiting bool) {
	eachAnswer(messages, func(a *speak.Answer) {
		if _, list := a.Data.([]any); list {
			page = nil
			if a.More && a.Next != "" {
				page = a
			}
		}
	})
	eachAnswer(messages[max(0, len(messages)-2):], func(a *speak.Answer) { waiting = waiting || a.Pending })
	return page, waiting
}
