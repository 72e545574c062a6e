package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/state"
	"countersign.dev/internal/usage"
)

// kinds are the kinds of keys that a gateway and its servers keep in Redis, with the
// type of each.
var kinds = map[string]string{
	"asked": "string", "cancel": "string", "confirmation": "string", "connection": "string", "connections": "set", "conversation": "string", "conversations": "set",
	"draft": "string", "events": "stream", "events:bytes": "string", "events:counter": "string", "messages": "stream", "messages:bytes": "string", "messages:counter": "string",
	"open": "string", "pending": "string", "pending-of": "zset", "person": "stream", "person:bytes": "string", "person:counter": "string",
	"quota:requests": "hash", "quota:streams": "zset", "quota:turns": "zset", "recorded": "string", "revoked": "zset", "revoked:version": "string",
	"session": "string", "ticket": "string", "turn": "string", "usage": "hash", "waiting": "zset", "waiting:renewed": "zset",
}

// kindOf is the kind of a key: its name without what names a person or a record.
func kindOf(key string) string {
	first, rest, _ := strings.Cut(key, ":")
	if first == "quota" {
		second, _, _ := strings.Cut(rest, ":")
		return first + ":" + second
	}
	for _, part := range []string{"counter", "bytes", "renewed", "version"} {
		if strings.HasSuffix(rest, part) {
			return first + ":" + part
		}
	}
	return first
}

// life is what a person left in the Redis of a rig: a key of every kind.
type life struct {
	*rig
	token             string
	own               []string // headers of a signed-in browser
	idle, running     string   // conversations
	waiting, answered string   // confirmations
	ticket            string
}

// lived is a rig with the lives of people, each of whom said a word of their own.
func lived(t *testing.T, people ...[2]string) (lives []life) {
	t.Helper()
	var used *usage.Service
	r := newRig(t, func(o *conversation.Options) {
		used = usage.New(usage.Options{Store: state.NewCounters(o.Redis), Budget: usage.Budget{Tokens: 1_000_000}})
		o.Meter = used.Meter
	}, func(o *gateway.Options) { o.Usage = used })
	r.model.script["Hello"] = []step{says("Hello.")}
	deletionOf := func(word string) string { return "Delete " + word + " twice." }
	longOf := func(word string) string { return "How long, " + word + "?" }
	for _, person := range people { // before the first question: the model reads its script while turns run
		word := person[1]
		r.model.script[deletionOf(word)] = []step{func(ctx context.Context, m *model, yield func(agent.Delta, error) bool) {
			_ = yield(agent.Delta{Text: word + ", as you wish. "}, nil)
			calls("delete_employee", "update_salary")(ctx, m, yield)
		}}
		r.model.script[longOf(word)] = []step{waits}
	}
	replica := rigOn(t, r.mini)
	for _, person := range people {
		token, word := person[0], person[1]
		x, deletion, long := life{rig: r, token: token}, deletionOf(word), longOf(word)
		c := r.signIn(token)
		x.own = []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}

		asked := r.ask(token, deletion, "")
		ids := confirmationsIn(asked)
		x.idle, x.waiting, x.answered = conversationOf(t, asked), ids[0], ids[1]
		r.read(r.send("POST", "/api/confirm/"+x.answered, token, `{"approved":true}`))

		r.ask(token, "Hello", "")
		cancelled, _ := r.stream(r.send("POST", "/api/query", token, askBody(long, ""))).next()
		replica.read(replica.send("POST", "/api/conversations/"+conversationOf(t, []event{cancelled})+"/cancel", token, "{}"))
		running, _ := r.stream(r.send("POST", "/api/query", token, askBody(long, ""))).next()
		x.running = conversationOf(t, []event{running})

		x.ticket = r.newTicket(token)
		r.connect(token, "", "connected") // reserves its conversation's id
		lives = append(lives, x)
	}
	r.read(r.send("POST", "/api/revoke", auditToken, `{"jti":"one"}`))
	return lives
}

func (r *rig) newTicket(token string) string {
	_, body := r.read(r.send("POST", "/api/ticket", token, ""))
	_, ticket, _ := strings.Cut(body, `"ticket":"`)
	ticket, _, _ = strings.Cut(ticket, `"`)
	return ticket
}

func (x life) keys(kind string) (keys []string) {
	for _, key := range x.mini.Keys() {
		if kindOf(key) == kind {
			keys = append(keys, key)
		}
	}
	return keys
}

// expire takes waiting requests away, where the copies of those that expired are asked for.
func (x life) expire(kind string) {
	if kind != "asked" {
		return
	}
	for _, key := range x.keys("pending") {
		x.mini.Del(key)
	}
}

// walk makes every request that reads or changes what is kept, and returns the
// status and the beginning of each answer.
func (x life) walk() map[string]string {
	answers := map[string]string{}
	for _, q := range []struct{ method, path, body string }{
		{"GET", "/api/user", ""}, {"GET", "/api/conversations", ""}, {"GET", "/api/usage", ""}, {"GET", "/api/connections", ""}, {"POST", "/api/ticket", ""},
		{"GET", "/api/conversations/" + x.idle, ""}, {"PATCH", "/api/conversations/" + x.idle, `{"title":"Two"}`}, {"GET", "/api/conversations/" + x.running, ""},
		{"GET", "/api/confirmations", ""}, {"GET", "/api/confirmations/" + x.waiting, ""},
		{"POST", "/api/confirm/" + x.answered, `{"approved":true}`}, {"POST", "/api/confirm/" + x.waiting, `{"approved":false}`},
		{"POST", "/api/query", askBody("And now?", x.idle)}, {"POST", "/api/query", askBody("Hello", "")},
		{"GET", "/api/conversations/" + x.idle + "/events?after=0-0", ""}, {"GET", "/api/conversations/" + x.running + "/events?after=0-0", ""}, {"GET", "/api/events?after=0-0", ""},
		{"GET", "/api/events?after=0-0&ticket=" + x.ticket, ""},
		{"POST", "/api/conversations/" + x.running + "/cancel", "{}"},
		{"POST", "/api/revoke", `{"jti":"another"}`},
		{"DELETE", "/api/conversations/" + x.idle, ""},
	} {
		token, headers := x.token, []string(nil)
		switch {
		case strings.Contains(q.path, "ticket="):
			token = ""
		case q.path == "/api/revoke":
			token = auditToken
		case q.path == "/api/user" || q.path == "/api/conversations":
			token, headers = "", x.own
		}
		answers[q.method+" "+q.path+" "+q.body] = x.answer(x.send(q.method, q.path, token, q.body, headers...))
	}
	out := x.send("POST", "/logout", "", "", x.own...)
	answers["POST /logout"] = out.Status
	return answers
}

// answer is the status with the body, or with the events of a stream: those that come
// before an endless one waits.
func (x life) answer(resp *http.Response) string {
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		_, body := x.read(resp)
		return resp.Status + " " + body
	}
	all, s := resp.Status, x.stream(resp)
	for range map[bool]int{true: 2, false: 100}[strings.Contains(resp.Request.URL.Path, x.running) || strings.Contains(resp.Request.URL.Path, "/api/events")] {
		e, ok := s.next()
		if all += " " + e.data; !ok || e.data == "[DONE]" {
			break
		}
	}
	return all
}

// TestKeyOfAnotherTypeIsNoErrorOfOurs: someone who can write to Redis can give any key another
// type, or a value that is no number. What needs it is refused in the shape of its
// surface, or goes on without it.
func TestKeyOfAnotherTypeIsNoErrorOfOurs(t *testing.T) {
	got := map[string]string{}
	x := lived(t, [2]string{alice, "Frank"})[0]
	for _, key := range x.mini.Keys() {
		got[kindOf(key)] = x.mini.Type(key)
	}
	if diff := cmp.Diff(kinds, got); diff != "" {
		t.Errorf("kinds of keys (-want +got):\n%s", diff)
	}
	for kind, kept := range kinds {
		other := "string"
		if kept == "string" {
			other = "hash"
		}
		for _, forged := range []string{kept, other} {
			if forged != "string" && forged != "hash" {
				continue // sets of what else there may be are not believed
			}
			t.Run(kind+" as a "+forged, func(t *testing.T) {
				t.Parallel()
				x := lived(t, [2]string{alice, "Frank"})[0]
				x.expire(kind)
				for _, key := range x.keys(kind) {
					x.mini.Del(key)
					if forged == "hash" {
						x.mini.HSet(key, "tokens", "nan", "at", "inf", "input", "x")
					} else if err := x.mini.Set(key, "1e400"); err != nil {
						t.Fatal(err)
					}
				}
				for request, answer := range x.walk() {
					if strings.HasPrefix(answer, "500") || strings.Contains(answer, "INTERNAL_ERROR") || strings.Contains(answer, "WRONGTYPE") {
						t.Errorf("%s: got %s", request, answer)
					}
				}
			})
		}
	}
}

// TestKeyOfAnotherPersonShowsNothing: someone who can write to Redis can put what is kept for one
// person in the place of another's. It is no error of ours, and no answer has a word of it.
func TestKeyOfAnotherPersonShowsNothing(t *testing.T) {
	const bob, word = "bob.hill:hr-read,hr-write", "Zebra"
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			both := lived(t, [2]string{alice, "Frank"}, [2]string{bob, word})
			mine, theirs := both[0], both[1]
			place := strings.NewReplacer(theirs.idle, mine.idle, theirs.running, mine.running, theirs.waiting, mine.waiting, theirs.answered, mine.answered, "bob.hill", "alice.chen")
			free := mine.keys(kind)
			moved := 0
			for _, key := range mine.keys(kind) {
				if to := place.Replace(key); to != key {
					mine.rename(key, to)
					moved++
				}
			}
			mine.expire(kind)
			if moved == 0 { // named after a digest or an id that the person does not see
				for _, key := range free[1:] {
					mine.rename(key, free[0])
				}
			}
			for request, answer := range mine.walk() {
				if strings.HasPrefix(answer, "500") || strings.Contains(answer, "INTERNAL_ERROR") || strings.Contains(answer, word) {
					t.Errorf("%s: got %s", request, answer)
				}
			}
		})
	}
}

// rename gives a key of Redis another name, whatever type it has.
func (r *rig) rename(from, to string) {
	r.t.Helper()
	c, err := net.Dial("tcp", r.mini.Addr())
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	_, err = fmt.Fprintf(c, "*3\r\n$6\r\nRENAME\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(from), from, len(to), to)
	answer := make([]byte, 5)
	if err == nil {
		_, err = io.ReadFull(c, answer)
	}
	if err != nil || string(answer) != "+OK\r\n" {
		r.t.Fatalf("renaming %s to %s: %q, %v", from, to, answer, err)
	}
}
