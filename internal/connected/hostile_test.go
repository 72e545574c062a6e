package connected_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/testkit"
)

// A server that is bad in any manner costs its own calls only: the others are
// offered and answer meanwhile.
func TestBadServersHarmOnlyThemselves(t *testing.T) {
	servers := map[string]string{
		"good": fakeServer("good"), "silent": fakeServer("silent"), "missing": `{"command": "/no/such/program", "roles": ["reader"]}`,
		"dies": fakeServer("dies"), "huge": fakeServer("huge"), "garbage": fakeServer("garbage"), "never": fakeServer("never", `"timeoutMs": 200`),
	}
	r := serversOf(t, servers)
	reader := testkit.As(t, "rita", "reader")
	set := r.await(t, reader, "the tools of those that answer", func(set agent.Toolset) bool { return len(set.Open) == 5 })
	if got := names(set); !slices.Equal(got, []string{"dies.work", "garbage.work", "good.work", "huge.work", "never.work"}) {
		t.Errorf("got %v", got)
	}
	for name, want := range map[string]string{"dies": "SERVICE_UNAVAILABLE", "garbage": "SERVICE_UNAVAILABLE", "huge": "OPERATION_FAILED", "never": "TIMEOUT", "good": ""} {
		if o := r.Call(reader, name+".work", nil); o.Fault() == nil && want != "" || o.Fault() != nil && o.Fault().Code.Name != want {
			t.Errorf("%s: got %v, want %q", name, o.Fault(), want)
		}
	}
	if n := strings.Count(r.log.String(), `msg="call got no answer" server=huge`); n != 1 {
		t.Errorf("the answer that was too large was asked for %d times, want once", n)
	}
	if o := r.Call(reader, "good.work", nil); o.Fault() != nil {
		t.Errorf("the good one, afterwards: %v", o.Fault())
	}
	r.await(t, reader, "the process that died is started again", func(set agent.Toolset) bool {
		return has("dies.work")(set) && has("garbage.work")(set) && has("huge.work")(set)
	})
}

// What a server asks of the host, or says about itself, gives it nothing.
func TestAServerGetsNoModelAndNoFolders(t *testing.T) {
	r := serversOf(t, map[string]string{"asks": fakeServer("asks")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "its tool", has("asks.work"))
	o := r.Call(reader, "asks.work", nil)
	if o.Fault() != nil {
		t.Fatal(o.Fault())
	}
	if got := string(o.Data()); strings.Count(got, "code") != 2 || strings.Contains(got, `roots\":`) {
		t.Errorf("it was answered %s, want two refusals", got)
	}
}

func TestAFloodOfChangesIsBounded(t *testing.T) {
	r := serversOf(t, map[string]string{"floods": fakeServer("floods")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "its tool", has("floods.work"))
	if o := r.Call(reader, "floods.work", nil); o.Fault() != nil {
		t.Fatal(o.Fault())
	}
	r.await(t, reader, "its tool, after 5,000 changes", has("floods.work"))
}

// A process gets what the file gives it and a few harmless variables.
func TestAProcessGetsNoSecretsOfTheGateway(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "the-secret")
	t.Setenv("TOKEN_OF_NOTES", "its-token")
	r := serversOf(t, map[string]string{"env": fakeServer("environment", `"env": {"NOTES_TOKEN": "${TOKEN_OF_NOTES}"}`)})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "its tool", has("env.work"))
	got := string(r.Call(reader, "env.work", json.RawMessage(`{}`)).Data())
	if strings.Contains(got, "the-secret") || strings.Contains(got, "TOKEN_OF_NOTES") || !strings.Contains(got, "NOTES_TOKEN=its-token") || !strings.Contains(got, "PATH=") {
		t.Errorf("its environment is %s", got)
	}
}

// Without a role in the file no person may call anything, whatever their roles.
func TestNoRoleNoCall(t *testing.T) {
	entry := strings.Replace(fakeServer("good"), `, "roles": ["reader"]`, "", 1)
	r := serversOf(t, map[string]string{"good": entry})
	everyone := testkit.As(t, "eve", "reader", "employee", "manager", "executive", "auditor")
	r.await(t, everyone, "a closed tool", func(set agent.Toolset) bool { return len(set.Closed) == 1 })
	if o := r.Call(everyone, "good.work", nil); o.Fault() == nil || o.Fault().Code.Name != "INSUFFICIENT_PERMISSIONS" {
		t.Errorf("got %v", o.Fault())
	}
}

// A tool that changes its definition is held back until an operator accepts it,
// also while a call of it runs.
func TestAChangedToolIsHeldBackUntilItIsAccepted(t *testing.T) {
	r := serversOf(t, map[string]string{"changes": fakeServer("changes"), "good": fakeServer("good")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "both tools", func(set agent.Toolset) bool { return len(set.Open) == 2 })
	if o := r.Call(reader, "changes.work", nil); o.Fault() != nil {
		t.Fatalf("the call that was running: %v", o.Fault())
	}
	r.await(t, reader, "only the good one", func(set agent.Toolset) bool { return len(set.Open) == 1 && has("good.work")(set) })
	if o := r.Call(reader, "changes.work", nil); o.Fault() == nil || o.Fault().Code.Name != "UNKNOWN_TOOL" {
		t.Errorf("called while it is held back: got %v", o.Fault())
	}
	held := map[string]map[string]string{}
	r.EachHeld(func(server string, tools map[string]string) { held[server] = tools })
	if got := held["changes"]["work"]; got != "its definition has changed: description" {
		t.Errorf("held: got %v", held)
	}
}

// The list of one server is not waited for more than once.
func TestASilentServerHoldsUpNoListing(t *testing.T) {
	r := serversOf(t, map[string]string{"silent": fakeServer("silent"), "good": fakeServer("good")})
	reader := testkit.As(t, "rita", "reader")
	r.await(t, reader, "the good one", has("good.work"))
	for range 1000 { // each would take a second
		if set := r.Tools(reader); !has("good.work")(set) || len(set.Down) != 1 || set.Down[0].Server != "silent" {
			t.Fatalf("got %v and %v", names(set), set.Down)
		}
	}
}

// What an operator reads before they accept a definition is all that it holds.
// TestAProgramThatIsMissingIsNamed: its supervisor alone knows why it was not started.
func TestAProgramThatIsMissingIsNamed(t *testing.T) {
	folder := t.TempDir()
	text := `{"mcpServers": {"gone": {"command": "/no/such/program"}, "ends": {"command": "/bin/sh", "args": ["-c", "echo no key >&2; exit 3"]}}}`
	if err := os.WriteFile(filepath.Join(folder, "mcp.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set := open(t, folder, slog.New(slog.DiscardHandler))
	for name, want := range map[string]string{
		"gone": "its process ended: exit status 127: it could not be started: fork/exec /no/such/program: no such file or directory",
		"ends": "its process ended: exit status 3: no key",
	} {
		if _, err := set.Check(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

func TestDefinitionsAreShownToTheTerminalAsTheyAre(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, folder, map[string]string{"dresses": fakeServer("dresses")})
	set, logs := open(t, folder, slog.New(slog.DiscardHandler)), &strings.Builder{}
	for range 2 { // as a new definition, and as one that is accepted already
		if err := set.Accept(t.Context(), "dresses.*", logs); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(folder, "mcp.lock.json")); err != nil { // what was seen before is held back
		t.Fatal(err)
	}
	held, err := set.Check(t.Context(), "dresses")
	if err != nil {
		t.Fatal(err)
	}
	for place, text := range map[string]string{"accept": logs.String(), "check": held} {
		if err := plaintext.Check(text, true); err != nil || !strings.Contains(text, "wo⟨U+202E⟩rk⟨U+001B⟩[2J") {
			t.Errorf("%s shows %q: %v", place, text, err)
		}
	}
}
