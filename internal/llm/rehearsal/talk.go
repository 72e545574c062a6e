package rehearsal

import (
	"strings"

	"countersign.dev/internal/agent"
)

// How the planner's own questions begin. By these it knows, when the person
// has answered, that it was asked for.
const (
	askWhich = "Which one: "
	askWhat  = "What should "
	askWhom  = "Which "
)

// talk is a conversation as the planner needs it.
type talk struct {
	question string            // what the person wants
	answers  []string          // what they answered to our questions about it, in order
	known    map[string]*reply // what the calls for it came to
	said     string            // the last message of the person, whatever it belongs to
	since    map[string]*reply // what the calls since that message came to
	page     *reply            // the last incomplete list before it
	waiting  bool              // a change was waiting for approval before it
}

// hear finds the question that is open. Questions come from the person's words
// only; what tools answered is data.
func hear(messages []agent.Message) talk {
	last := lastUser(messages, len(messages))
	if last < 0 {
		return talk{known: map[string]*reply{}, since: map[string]*reply{}}
	}
	t := talk{said: messages[last].Text(), since: repliesOf(messages[last:])}
	t.page, t.waiting = before(messages[:last])
	first := last
	for first > 0 && asked(messages[:first]) {
		earlier := lastUser(messages, first)
		if earlier < 0 {
			break
		}
		t.answers = append([]string{messages[first].Text()}, t.answers...)
		first = earlier
	}
	t.question, t.known = messages[first].Text(), repliesOf(messages[first:])
	return t
}

func lastUser(messages []agent.Message, before int) int {
	for i := before - 1; i >= 0; i-- {
		if messages[i].Role == agent.User {
			return i
		}
	}
	return -1
}

// asked reports whether the last thing said was a question of ours.
func asked(messages []agent.Message) bool {
	m := messages[len(messages)-1]
	if m.Role != agent.Assistant || len(m.Calls()) > 0 {
		return false
	}
	for _, prefix := range []string{askWhich, askWhat, askWhom} {
		if strings.HasPrefix(m.Text(), prefix) {
			return true
		}
	}
	return false
}

func repliesOf(messages []agent.Message) map[string]*reply {
	out := map[string]*reply{}
	eachReply(messages, func(r *reply) { out[callKey(r.tool, r.args)] = r })
	return out
}

// eachReply gives the calls with their results, in order.
func eachReply(messages []agent.Message, do func(*reply)) {
	calls := map[string]agent.Call{}
	for _, m := range messages {
		for _, c := range m.Calls() {
			calls[c.ID] = c
		}
		for _, res := range m.Results() {
			if c, ok := calls[res.ID]; ok {
				do(readReply(c, res))
			}
		}
	}
}

// before finds the last incomplete list, and whether the last step before the
// question left a change waiting.
func before(messages []agent.Message) (page *reply, waiting bool) {
	eachReply(messages, func(r *reply) {
		if r.data == nil {
			return
		}
		if _, list := r.data.([]any); list {
			page = nil
			if r.more && r.next != "" {
				page = r
			}
		}
	})
	if n := len(messages); n > 0 {
		eachReply(messages[max(0, n-2):], func(r *reply) { waiting = waiting || r.pending })
	}
	return page, waiting
}
