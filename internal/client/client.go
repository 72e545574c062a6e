// Package client is the terminal client of a running gateway: it lists and calls
// tools, chats, and gets tokens of a demo. It knows the gateway by its HTTP
// contract only. Start with Options.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/result"
)

// Options say which gateway, as whom, and how answers are printed.
type Options struct {
	URL   string // of the gateway
	Token string // bearer token; or
	As    string // a sample person, on a running demo
	Model string // that answers in a chat; empty: the conversation's, or the gateway's default
	JSON  bool   // print JSON, one value a line
	In    io.Reader
	Out   io.Writer // results only
	Err   io.Writer // prompts, and problems of a conversation

	// Of a chat alone.
	Resume     string           // id of the conversation to go on with; empty: a new one
	Color      bool             // may be used where Out is a terminal
	Interrupts <-chan os.Signal // Ctrl-C: stops an answer, else ends the chat; nil: ctx alone ends it
	Resized    <-chan os.Signal // the terminal has another size
}

// client calls a running gateway as one person.
type client struct {
	base string
	as   string // a sample person, whose tokens the demo renews; empty: the token is all there is
	http *http.Client

	mu    sync.Mutex
	token string
}

// userAgent is recorded by the gateway as the surface.
const userAgent = "countersign"

// client uses the given token, or gets one from the demo's issuer.
func (o Options) client(ctx context.Context) (*client, error) {
	c := &client{base: strings.TrimSuffix(o.URL, "/"), token: o.Token, http: &http.Client{}}
	if c.token != "" {
		return c, nil
	}
	c.as = o.As
	t, err := demoToken(ctx, c, o.As, "gateway", DefaultScope)
	c.token = t
	return c, err
}

func (c *client) bearer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token
}

// renew gets another token from a demo, whose tokens end after an hour. It reports
// whether there is one.
func (c *client) renew(ctx context.Context) bool {
	if c.as == "" {
		return false
	}
	t, err := demoToken(ctx, &client{base: c.base, http: c.http}, c.as, "gateway", DefaultScope)
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = t
	return true
}

// requestTimeout bounds every request but streams.
const requestTimeout = 30 * time.Second

// get fetches a JSON document.
func (c *client) get(ctx context.Context, path string, out any) error {
	return c.send(ctx, http.MethodGet, path, nil, out)
}

// post sends a JSON document and reads the answer.
func (c *client) post(ctx context.Context, path string, in, out any) error {
	return c.send(ctx, http.MethodPost, path, in, out)
}

func (c *client) send(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := c.do(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("the answer of %s ended early", c.base)
	}
	if resp.StatusCode >= 300 {
		return errorOf(resp, body)
	}
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = body
		return nil
	}
	return json.Unmarshal(body, out)
}

// do sends one request. The caller closes the body.
func (c *client) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token := c.bearer(); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("nothing answers at %s; is the demo or gateway running?", c.base)
	}
	return resp, nil
}

// busyError is a refusal of a gateway that says when to ask again.
type busyError struct {
	error
	wait time.Duration
}

// errorOf is what the gateway said instead of an answer.
func errorOf(resp *http.Response, body []byte) error {
	err := statusError(resp.StatusCode, body)
	if seconds, bad := strconv.Atoi(resp.Header.Get("Retry-After")); bad == nil && resp.StatusCode == http.StatusTooManyRequests {
		err = &busyError{err, time.Duration(max(0, seconds)) * time.Second}
	}
	return err
}

// statusError is the error of an answer with another status than 2xx.
func statusError(status int, body []byte) error {
	var said struct {
		Message         string `json:"message"`
		Error           string `json:"error"`
		Description     string `json:"error_description"` // of OAuth errors
		SuggestedAction string `json:"suggestedAction"`
	}
	_ = json.Unmarshal(result.ForPeople(body), &said) // not JSON: the status is reported
	text := strings.TrimSpace(cmp.Or(said.Message, said.Description, said.Error) + " " + said.SuggestedAction)
	if text == "" {
		text = http.StatusText(status)
	}
	return fmt.Errorf("%s (HTTP %d)", text, status)
}

// demoToken asks a demo's development issuer for a token.
func demoToken(ctx context.Context, c *client, person, audience, scope string) (string, error) {
	var meta struct {
		Servers []string `json:"authorization_servers"`
	}
	if err := c.get(ctx, "/.well-known/oauth-protected-resource", &meta); err != nil {
		return "", err
	}
	if len(meta.Servers) == 0 {
		return "", errors.New("the gateway names no issuer")
	}
	issuer := &client{base: strings.TrimSuffix(meta.Servers[0], "/"), http: c.http}
	var answer struct {
		Token string `json:"access_token"`
	}
	err := issuer.post(ctx, "/dev/token", map[string]string{"username": person, "audience": audience, "scope": scope}, &answer)
	if err != nil {
		return "", err
	}
	return answer.Token, nil
}

// DefaultScope lets a token call tools and answer its person's confirmations.
const DefaultScope = "mcp confirm"

// Token asks a running demo for a token of a person, for the server named as
// audience (gateway, hr and so on) and with that scope.
func Token(ctx context.Context, gateway, person, audience, scope string) (string, error) {
	return demoToken(ctx, &client{base: strings.TrimSuffix(gateway, "/"), http: &http.Client{}}, person, audience, scope)
}

// compact is JSON on one line.
func compact(answer json.RawMessage) []byte {
	var out bytes.Buffer
	_ = json.Compact(&out, answer) // valid: the gateway made it
	return out.Bytes()
}

// serverOf finds the server of a tool. A tool that the person may not call is
// not listed: server.tool names its server, and for any other name each server
// will do, because its answer explains why.
func (c *client) serverOf(ctx context.Context, tool string) (string, error) {
	list, err := c.tools(ctx)
	if err != nil {
		return "", err
	}
	for _, t := range list.Tools {
		if t.Name == tool {
			return t.Server, nil
		}
	}
	for _, s := range list.Servers {
		if strings.HasPrefix(tool, s.Name+".") {
			return s.Name, nil
		}
	}
	if len(list.Servers) > 0 {
		return list.Servers[0].Name, nil
	}
	return "", fmt.Errorf("there is no tool named %q that you may call", tool)
}

// toolList is the answer of GET /api/tools.
type toolList struct {
	Tools []struct {
		result.ToolInfo
		Server string `json:"server"`
	} `json:"tools"`
	Servers []struct {
		Name    string `json:"name"`
		Healthy bool   `json:"healthy"`
	} `json:"servers"`
}

func (c *client) tools(ctx context.Context) (list toolList, err error) {
	err = c.get(ctx, "/api/tools", &list)
	return list, err
}
