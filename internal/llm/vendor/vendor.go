// Package vendor is what the adapters of all providers share: their options, the
// HTTP client, the names of tools, and one meaning for each failure. An adapter
// speaks one vendor's protocol and decides nothing else.
package vendor

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"countersign.dev/internal/agent"
)

// Options are one model of one provider.
type Options struct {
	Model       string   // as the provider names it
	BaseURL     string   // empty: the provider's own
	APIKey      string   // empty: none is sent
	KeyName     string   // where the key comes from, for errors, such as ANTHROPIC_API_KEY
	MaxTokens   int      // of one answer
	Temperature *float64 // nil: the provider's default
}

// HTTPClient is the client of an adapter. An answer that is no stream of events
// is an error already here: a [Failure] by its status, or what a proxy or a
// portal says with status 200. So is a redirect: to follow it could carry the key to
// another host. Deadlines are the context's.
func (o Options) HTTPClient() *http.Client {
	return &http.Client{Transport: onlyEvents{o, http.DefaultTransport.(*http.Transport).Clone()}}
}

// onlyEvents fails answers that are no streams.
type onlyEvents struct {
	o    Options
	next http.RoundTripper
}

func (t onlyEvents) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody)) // what arrived of it
		_ = resp.Body.Close()
		return nil, t.o.Rejected(resp.StatusCode, resp.Header, string(said))
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, &notStream{resp.StatusCode, kind}
}

// maxBody bounds what is read of a provider's explanation.
const maxBody = 64 << 10

// Outcome is how a model reads a message of the gateway. Not every provider
// takes instructions in the middle of a conversation, so a user message has it.
func Outcome(text string) string { return "Note of the gateway, not of the person: " + text }

// Belongs reports whether an opaque part may go back to this provider's model.
func Belongs(o agent.Opaque, provider, model string) bool {
	return o.Provider == provider && o.Model == model
}

// Names maps the names of tools to names that every provider accepts, and back.
// Tools of third-party servers have a dot in theirs.
type Names struct{ sent, ours map[string]string }

// foreign is what one of Anthropic, Gemini and OpenAI does not take in a name.
var foreign = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// maxName is the length that all of them take.
const maxName = 64

// accepted is a name that all of them take. Gemini's begin with a letter or an
// underscore.
func accepted(name string) string {
	name = foreign.ReplaceAllString(name, "_")
	if name != "" && (name[0] == '-' || name[0] >= '0' && name[0] <= '9') {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}

// NewNames maps the names of the offered tools.
func NewNames(tools []agent.Tool) *Names {
	n := &Names{map[string]string{}, map[string]string{}}
	for _, t := range tools {
		sent := accepted(t.Name)
		for i := 2; n.ours[sent] != ""; i++ {
			end := fmt.Sprintf("_%d", i)
			sent = sent[:min(len(sent), maxName-len(end))] + end
		}
		n.sent[t.Name], n.ours[sent] = sent, t.Name
	}
	return n
}

// Sent is the name that a provider reads. A tool that is no longer offered, from
// an older turn, is mapped the same way.
func (n *Names) Sent(name string) string {
	if sent := n.sent[name]; sent != "" {
		return sent
	}
	return accepted(name)
}

// Ours is the name of the tool that a provider asked for; an invented name is
// returned unchanged.
func (n *Names) Ours(sent string) string {
	if name := n.ours[strings.TrimSpace(sent)]; name != "" {
		return name
	}
	return sent
}
