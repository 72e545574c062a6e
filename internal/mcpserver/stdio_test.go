package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/testkit"
)

// lines is a client at the standard streams of a server.
type lines struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
}

// overStdio serves a toolbox to one client until the test ends.
func overStdio(t *testing.T, tools rest.Toolbox, change ...func(*mcpserver.Options)) *lines {
	t.Helper()
	o := mcpserver.Options{Name: "test", MaxBody: 2000, Verify: func(context.Context, string) (*access.Principal, error) {
		return testkit.Person("alice", access.Employee), nil
	}}
	for _, c := range change {
		c(&o)
	}
	server, err := mcpserver.New(tools, o)
	if err != nil {
		t.Fatal(err)
	}
	in, client := io.Pipe()
	answers, out := io.Pipe()
	l := &lines{t: t, in: client, out: bufio.NewReader(answers), ended: make(chan error, 1)}
	serving := context.WithoutCancel(t.Context()) // until its input ends
	go func() {
		l.ended <- mcpserver.Stdio{Server: server}.Serve(serving, in, out)
		close(l.ended)
		_, _ = in.Close(), out.Close() // a client that writes or reads on learns of the end
	}()
	t.Cleanup(func() { l.end() })
	return l
}

// initialized is one that has begun a session.
func initialized(t *testing.T, tools rest.Toolbox, change ...func(*mcpserver.Options)) *lines {
	t.Helper()
	l := overStdio(t, tools, change...)
	l.sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"serverInfo"`)
	l.sends(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	return l
}

// end ends the input, returns what is answered still, and says if serving did not end well.
func (l *lines) end() string {
	l.t.Helper()
	_ = l.in.Close()
	more, _ := io.ReadAll(l.out)
	if err, first := <-l.ended; first && err != nil {
		l.t.Errorf("serving ended with %v", err)
	}
	return string(more)
}

// sends sends a line and returns its answer, which has all of want. An empty want means
// that there is none.
func (l *lines) sends(line string, want ...string) string {
	l.t.Helper()
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		l.t.Fatal(err)
	}
	if want[0] == "" {
		return ""
	}
	got, err := l.out.ReadString('\n')
	for _, part := range want {
		if err != nil || !strings.Contains(got, part) {
			l.t.Fatalf("%.60s: got %s (%v), want %s", line, got, err, part)
		}
	}
	return got
}

// TestStdioGoesOnAfterWhatIsNoMessage: each bad line is answered with its JSON-RPC
// error, or ignored, and the next call is served.
func TestStdioGoesOnAfterWhatIsNoMessage(t *testing.T) {
	l := initialized(t, newFakeService())
	for line, want := range map[string]string{
		"Hello, this is no JSON.":                           `"code":-32700`,
		`{"jsonrpc":"2.0","id":2,"method":`:                 `"code":-32700`,
		"\x00\xff\x01":                                      `"code":-32700`,
		strings.Repeat("x", 5000):                           `"code":-32700`,
		`{"jsonrpc":"2.0","id":3} {"jsonrpc":"2.0","id":4}`: `"code":-32700`,
		"42":                             `"code":-32600`,
		`{"id":5,"method":"tools/list"}`: `"id":5`,
		`[{"jsonrpc":"2.0","id":6,"method":"tools/list"}]`:                               `"code":-32600`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`:                     `"code":-32602`,
		`{"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{"level":"info"}}`: `"code":-32601`,
		`{"jsonrpc":"2.0","id":9,"method":"prompts/list"}`:                               `"code":-32601`,
		`{"jsonrpc":"2.0","id":10,"error":5}`:                                            `"code":-32600`,
		`{"jsonrpc":"2.0","id":11,"error":{"code":"x"}}`:                                 `"code":-32600`,
		`{"jsonrpc":"2.0","id":12,"error":{"code":1.5,"message":"x"}}`:                   `"code":-32600`,
		`{"jsonrpc":"2.0","id":13,"error":{"code":1,"message":2}}`:                       `"code":-32600`,
		`{"jsonrpc":"2.0","id":14,"method":"ping","error":[]}`:                           `"code":-32600`,
		`{"jsonrpc":"2.0","result":{}}`:                                                  `"code":-32600`,
		`{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`:                             `"code":-32600`,
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`:                                   `"code":-32700`,
		`{"jsonrpc":"2.0","id":-1e400,"result":{}}`:                                      `"code":-32700`,
		`{"jsonrpc":"2.0","id":15,"id":16,"method":"ping"}`:                              `"code":-32700`,
		`{"jsonrpc":"2.0","id":17,"method":null}`:                                        `"code":-32600`,
		`{"jsonrpc":"2.0","id":18,"method":"ping"} `:                                     `"id":18,"result"`,
		"\t{\"jsonrpc\":\"2.0\",\r\"id\":19,\"method\":\"ping\"}\t\r":                    `"id":19,"result"`,
		`{"jsonrpc":"2.0","id":20,"result":{}}`:                                          "",
		`{"jsonrpc":"2.0","id":20.5,"error":{"code":-1,"message":"x"}}`:                  "",
		"":   "",
		"\r": "",
		`{"jsonrpc":"2.0","method":"tools/call","params":["nobody"]}`: "",
	} {
		got := l.sends(line, want)
		for _, name := range []string{"json:", "jsonrpc2", "unmarshal", "Go struct", "mcp."} {
			if strings.Contains(got, name) {
				t.Errorf("%.60s: got %s, which has a name of the program", line, got)
			}
		}
		l.sends(`{"jsonrpc":"2.0","id":"next","method":"tools/call","params":{"name":"echo","arguments":{"note":"still here"}}}`, "still here")
	}
}

// TestIDsComeBackOverStdioAsTheyWereSent: a text that looks like our
// substitute of a number is a text.
func TestIDsComeBackOverStdioAsTheyWereSent(t *testing.T) {
	l := initialized(t, newFakeService())
	for _, id := range []string{
		"1.5", "0.1", "-0.25", "-0", "1e2", "1e30", "9007199254740993", "12345678901234567890", "7", "0", `"seven"`, `"1.5"`,
		`"countersign/number:1.5"`, `"countersign/number:"`, `"countersign/number:\"<\u0026\""`, `"\u0063ountersign/number:7"`,
	} {
		var want, got struct{ ID json.RawMessage }
		for _, message := range []string{`"method":"ping"`, `"method":"tools/call","params":{"name":"echo","arguments":{"note":"x"}}`, `"method":"prompts/list"`} {
			line := `{"jsonrpc":"2.0","id":` + id + `,` + message + `}`
			answer := l.sends(line, `"jsonrpc":"2.0"`)
			if err := json.Unmarshal([]byte(answer), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(id, `"`) {
				want.ID, got.ID = decoded(t, want.ID), decoded(t, got.ID)
			}
			if string(got.ID) != string(want.ID) {
				t.Errorf("id %s of %s: got %s", id, message, answer)
			}
		}
	}
}

// decoded is the text of a JSON string.
func decoded(t *testing.T, quoted json.RawMessage) json.RawMessage {
	t.Helper()
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		t.Error(err)
	}
	return json.RawMessage(text)
}

// TestStdioKeepsTheOrderOfTheHandshake: what comes before initialize, and a second one, are
// refused as over HTTP. A message of a version without a handshake needs none.
func TestStdioKeepsTheOrderOfTheHandshake(t *testing.T) {
	const (
		initialize = `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
		call       = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"note":"here"}}}`
		first      = `Send initialize first`
		again      = `This session has been initialized before.`
		late       = `Messages of version 2026-07-28 came first.`
	)
	l := overStdio(t, newFakeService())
	l.sends(call, `"id":3`, `"code":-32600`, first)
	l.sends(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, `"id":4`, `"code":-32600`, first)
	l.sends(`{"jsonrpc":"2.0","id":5,"method":"tools/nope"}`, `"id":5`, `"code":-32601`)
	l.sends(`{"jsonrpc":"2.0","id":6,"method":"ping"}`, `"id":6,"result"`)
	l.sends(initialize, `"serverInfo"`)
	l.sends(call, `"here"`)
	l.sends(initialize, `"id":2`, `"code":-32600`, again)
	l.sends(call, `"here"`)
	m := overStdio(t, newFakeService())
	m.sends(modernBody("tools/call", `"name":"echo","arguments":{"note":"modern"}`), `"modern"`)
	m.sends(call, `"code":-32600`, late)
	m.sends(initialize, `"code":-32600`, late)
	m.sends(call, `"code":-32600`, late)
	m.sends(modernBody("tools/call", `"name":"echo","arguments":{"note":"still"}`), `"still"`)
	m.sends(modernBody("server/discover", ""), `"supportedVersions"`)
}

// TestStdioServesTheVersionThatAMessageDeclares: with its handshake, if it has one, and names
// those that there are in answer to another.
func TestStdioServesTheVersionThatAMessageDeclares(t *testing.T) {
	declaring := func(version, method string) string {
		return strings.Replace(modernBody(method, ""), `"2026-07-28"`, version, 1)
	}
	l := overStdio(t, newFakeService())
	l.sends(declaring(`"2025-11-25"`, "tools/list"), `"code":-32600`, "Send initialize first.")
	l.sends(declaring(`"2099-01-01"`, "server/discover"), `"code":-32022`, `"supported":["2026-07-28",`, `"requested":"2099-01-01"`)
	l.sends(declaring(`""`, "tools/list"), `"code":-32022`)
	l.sends(declaring(`5`, "tools/list"), `"code":-32602`)
	l.sends(`{"jsonrpc":"2.0","id":2,"method":"server/discover"}`, `"code":-32601`)
	l.sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"serverInfo"`)
	l.sends(declaring(`"2025-11-25"`, "tools/list"), `"tools":[`)
	l.sends(declaring(`"2026-07-28"`, "tools/list"), `"resultType":"complete"`)
}

// TestWhatWasReadBeforeTheEndIsAnswered: a client that writes all it has and closes its end
// gets all answers.
func TestWhatWasReadBeforeTheEndIsAnswered(t *testing.T) {
	all, begun := make(chan struct{}), make(chan struct{}, 20)
	tools := newFakeService()
	tools.tools["slow"] = fakeTool{[]access.Role{access.Employee}, result.Read, func(context.Context, *access.Principal, json.RawMessage) result.Outcome {
		begun <- struct{}{}
		<-all
		return result.Success(json.RawMessage(`"done"`), nil, "")
	}}
	l := initialized(t, tools)
	for i := range 20 {
		l.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","arguments":{}}}`, 100+i), "")
	}
	_ = l.in.Close()
	<-begun
	close(all)
	if said := l.end(); strings.Count(said, `"id":1`) != 20 || strings.Count(said, "done") < 20 {
		t.Errorf("got %s", said)
	}
}

// TestHandshakeBeforeTheEndIsAnswered: initialize alone, which is how people try whether a server begins.
func TestHandshakeBeforeTheEndIsAnswered(t *testing.T) {
	for range 10 {
		l := overStdio(t, newFakeService())
		l.sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "")
		if said := l.end(); !strings.Contains(said, "serverInfo") {
			t.Fatalf("got %q", said)
		}
	}
}

// TestCancelledCallsOverStdioAreNotAnswered: whatever their id is.
func TestCancelledCallsOverStdioAreNotAnswered(t *testing.T) {
	service := newFakeService()
	l := initialized(t, service)
	for _, id := range []string{"7", "1.5", `"a"`} {
		if _, err := io.WriteString(l.in, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"wait"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		call := <-service.entered
		if telemetry.RequestOf(call).ID == "" {
			t.Error("a call has no id for the log")
		}
		l.sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"another"}}`, "")
		l.sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, "")
		<-call.Done()
		l.sends(`{"jsonrpc":"2.0","id":"next","method":"ping"}`, `"id":"next","result"`)
	}
	if more := l.end(); more != "" {
		t.Errorf("got %s, want no answer of a cancelled call", more)
	}
}

// TestCallCancelledAtOnceIsRecorded: a call and its cancellation that arrive together run a tool
// whose caller has left, which records that.
func TestCallCancelledAtOnceIsRecorded(t *testing.T) {
	service := newFakeService()
	slow := func(o *mcpserver.Options) { // as a verifier that asks for the person's right
		o.Verify = func(ctx context.Context, _ string) (*access.Principal, error) {
			return testkit.Person("alice", access.Employee), ctx.Err()
		}
	}
	l := initialized(t, service, slow)
	for id := range 50 {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait"}}`, id+2)
		l.sends(call+"\n"+fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id+2), "")
		select {
		case call := <-service.entered:
			<-call.Done()
		case <-time.After(testkit.Patience):
			t.Fatalf("call %d was not run", id)
		}
	}
	if more := l.end(); more != "" {
		t.Errorf("got %s, want no answer of a cancelled call", more)
	}
}

// TestSessionHasTheVersionThatWasAgreed: a client that asks for a version which has no
// handshake, or that does not exist, gets answers of the version that it was answered.
func TestSessionHasTheVersionThatWasAgreed(t *testing.T) {
	for _, asked := range []string{"2026-07-28", "2099-01-01"} {
		l := overStdio(t, newFakeService())
		l.sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"protocolVersion":"2025-11-25"`)
		l.sends(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
		if said := l.sends(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"note":"here"}}}`, `"here"`); strings.Contains(said, "resultType") {
			t.Errorf("%s: got %s", asked, said)
		}
	}
}
