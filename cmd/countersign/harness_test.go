package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign.dev/internal/client"
	"countersign.dev/internal/supervise"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/browsertest"
)

// asProgram makes the test binary run the program, so that tests can start and
// kill processes without building one. Its value is the folder that it runs in.
const asProgram = "COUNTERSIGN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if supervise.Asked(os.Args) {
		os.Exit(supervise.Main(os.Args))
	}
	for variable, serve := range map[string]func(listen, value string) error{asHop: hop, asEcho: echo} {
		if value := os.Getenv(variable); value != "" {
			fmt.Fprintln(os.Stderr, serve(os.Args[1], value))
			os.Exit(1)
		}
	}
	if folder := os.Getenv(asProgram); folder != "" {
		if err := os.Chdir(folder); err != nil {
			panic(err)
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := run(ctx, program{args: os.Args[1:], getenv: os.Getenv, in: os.Stdin, out: os.Stdout, err: os.Stderr})
		stop()
		os.Exit(code)
	}
	testkit.InMemory()
	code := browsertest.Main(m)
	if err := endShared(); err != nil {
		fmt.Fprintln(os.Stderr, "the shared demo:", err)
		code = 1
	}
	os.Exit(code)
}

// ready is the line that `demo --json` prints.
type ready struct {
	Event   string            `json:"event"`
	Gateway string            `json:"gateway"`
	Issuer  string            `json:"issuer"`
	Servers map[string]string `json:"servers"`
	Audit   string            `json:"audit"`
	Model   string            `json:"model"`
}

// process is a running program.
type process struct {
	ready
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	done   chan error    // receives the result of Wait once
	ended  chan struct{} // closed after Wait
	first  chan string   // the first line of standard output
}

// startProcess runs the program with the arguments: the test binary, with asProgram set.
func startProcess(env []string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startFile(self, env, args...)
}

// startFile runs a file of the program with the arguments.
func startFile(file string, env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(file, args...), stderr: &bytes.Buffer{}, done: make(chan error, 1), ended: make(chan struct{}), first: make(chan string, 1)}
	p.cmd.Env = append(append(os.Environ(), asProgram+"=."), env...)
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		if lines.Scan() {
			p.first <- lines.Text()
		}
		close(p.first)
		for lines.Scan() { // drain
		}
		p.done <- p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// startTimeout includes making a database cluster on a slow machine.
const startTimeout = 3 * testkit.Patience

// startDemo runs a demo and waits until it is ready.
func startDemo(env []string, args ...string) (*process, error) {
	p, err := startProcess(env, append([]string{"demo", "--json", "--model", "rehearsal"}, args...)...)
	if err != nil {
		return nil, err
	}
	select {
	case line, ok := <-p.first:
		if ok && json.Unmarshal([]byte(line), &p.ready) == nil && p.Event == "ready" {
			return p, nil
		}
		return nil, fmt.Errorf("the demo did not start: %v\n%s", <-p.done, p.stderr)
	case <-time.After(startTimeout):
		_ = p.cmd.Process.Kill()
		return nil, fmt.Errorf("the demo did not start in %s:\n%s", startTimeout, p.stderr)
	}
}

// demoFor starts a demo for one test, on free ports unless args name one.
func demoFor(t testing.TB, args ...string) *process {
	t.Helper()
	return demoWith(t, nil, args...)
}

// demoWith adds variables to the environment.
func demoWith(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p, err := startDemo(env, append([]string{"--port", "0"}, args...)...)
	needStart(t, err)
	t.Cleanup(func() {
		if err := p.end(); err != nil {
			t.Errorf("ending the demo: %v", err)
		}
	})
	return p
}

// end asks the process to end, and expects exit code 0.
func (p *process) end() error {
	select {
	case <-p.ended:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil // killed by its test
	}
	select {
	case err := <-p.done:
		if err != nil {
			return fmt.Errorf("%w\n%s", err, p.stderr)
		}
		return nil
	case <-time.After(testkit.Patience):
		_ = p.cmd.Process.Kill()
		return errors.New("it did not end")
	}
}

// kill sends SIGKILL and waits until the process has ended.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.ended
}

// shared is the demo of tests that change nothing which another test reads.
var shared struct {
	sync.Once
	*process
	err error
}

func sharedDemo(t testing.TB) *process {
	t.Helper()
	shared.Do(func() { shared.process, shared.err = startDemo(nil, "--port", "0") })
	needStart(t, shared.err)
	return shared.process
}

func endShared() error {
	if shared.process == nil {
		return nil
	}
	return shared.end()
}

// needStart fails the test when an engine did not start, or skips it when
// PostgreSQL is not installed and could not be fetched.
func needStart(t testing.TB, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "could not be fetched") {
		testkit.Missing(t, "PostgreSQL, and a network to fetch it from")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// token is a person's token for a server.
func (p *process) token(t testing.TB, person, audience string) string {
	t.Helper()
	token, err := client.Token(t.Context(), p.Gateway, person, audience, client.DefaultScope)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// answer is an HTTP response with its body.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes one request with a token. A nil body sends none.
func send(t testing.TB, method, url, token string, body any, headers ...string) answer {
	t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, reader)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := testkit.Client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// turn is one turn as a person sees it.
type turn struct {
	conversation string
	text         string
	rows         []map[string]any // of the last list
	data         map[string]any   // of the last single record
	tools        []string
	hints        []string // of truncation
	pending      []pendingCard
	errors       []string
	raw          string
	done         bool
}

type pendingCard struct {
	ID      string         `json:"confirmationId"`
	Message string         `json:"message"`
	Data    map[string]any `json:"confirmationData"`
}

// ask asks a question and reads the stream to its end. A server that other tests keep busy refuses
// a call that has waited 2 s, and the answer says to ask again: so it does, a few times.
func (p *process) ask(t testing.TB, person, question string) (s turn) {
	t.Helper()
	busy := func(text string) bool { return strings.Contains(text, "got too many requests") }
	for range 5 {
		if s = p.askIn(t, person, question, ""); !slices.ContainsFunc(s.errors, busy) {
			break
		}
	}
	return s
}

func (p *process) askIn(t testing.TB, person, question, conversation string) turn {
	t.Helper()
	body := map[string]string{"query": question}
	if conversation != "" {
		body["conversationId"] = conversation
	}
	a := send(t, http.MethodPost, p.Gateway+"/api/query", p.token(t, person, "gateway"), body)
	if a.status != http.StatusOK {
		t.Fatalf("%s asked %q: HTTP %d %s", person, question, a.status, a.body)
	}
	return readStream(t, a.body)
}

func readStream(t testing.TB, body string) turn {
	t.Helper()
	s := turn{raw: body}
	for line := range strings.SplitSeq(body, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if s.done {
			t.Errorf("received after [DONE]: %s", data)
		}
		if data == "[DONE]" {
			s.done = true
			continue
		}
		s.add(t, data)
	}
	return s
}

func (s *turn) add(t testing.TB, data string) {
	t.Helper()
	var e struct {
		Type, Status, Text, Hint, Error, State, Tool string
		ConversationID                               string `json:"conversationId"`
		Data                                         struct {
			Status string
			Data   json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatalf("an event cannot be read: %v\n%s", err, data)
	}
	switch {
	case e.Status == "pending_confirmation":
		var card pendingCard
		_ = json.Unmarshal([]byte(data), &card)
		s.pending = append(s.pending, card)
	case e.Type == "start":
		s.conversation = e.ConversationID
	case e.Type == "text", e.Type == "note":
		s.text += e.Text
	case e.Type == "truncation":
		s.hints = append(s.hints, e.Hint)
	case e.Type == "error":
		s.errors = append(s.errors, e.Error)
	case e.Type == "tool" && e.State == "complete":
		s.tools = append(s.tools, e.Tool)
		var rows []map[string]any
		if json.Unmarshal(e.Data.Data, &rows) == nil {
			s.rows = rows
			return
		}
		_ = json.Unmarshal(e.Data.Data, &s.data)
	}
}

// confirm answers a confirmation.
func (p *process) confirm(t testing.TB, person, id string, approved bool) answer {
	t.Helper()
	return send(t, http.MethodPost, p.Gateway+"/api/confirm/"+id, p.token(t, person, "gateway"), map[string]bool{"approved": approved})
}

// call calls a tool directly through the gateway.
func (p *process) call(t testing.TB, person, tool string, input any) answer {
	t.Helper()
	return send(t, http.MethodPost, p.Gateway+"/api/mcp/hr/"+tool, p.token(t, person, "gateway"), input)
}
