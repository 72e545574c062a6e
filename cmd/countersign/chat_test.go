package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rivo/uniseg"

	"countersign.dev/internal/testkit"
)

// terminal is a person's terminal with a program in it.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File // the other side of the program's terminal

	mu     sync.Mutex
	screen string // everything that was written to it
	read   int    // how far expect has come
	grown  chan struct{}
	ended  chan struct{}
}

// inTerminal starts the program in a terminal of so many columns.
func inTerminal(t *testing.T, columns int, args ...string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, cmd: exec.Command(self, args...), grown: make(chan struct{}, 1), ended: make(chan struct{})}
	x.cmd.Env = append(os.Environ(), asProgram+"=.", "TERM=xterm")
	if x.file, err = pty.StartWithSize(x.cmd, &pty.Winsize{Rows: 40, Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	go x.watch()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = x.cmd.Wait()
		_ = x.file.Close()
		<-x.ended
	})
	return x
}

func (x *terminal) watch() {
	defer close(x.ended)
	buf := make([]byte, 4096)
	for {
		n, err := x.file.Read(buf)
		x.mu.Lock()
		x.screen += string(buf[:n])
		x.mu.Unlock()
		select {
		case x.grown <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// expect waits for a text after what was expected before, and returns what is
// between them.
func (x *terminal) expect(text string) string {
	x.t.Helper()
	late := time.After(testkit.Patience)
	for {
		x.mu.Lock()
		unread := x.screen[x.read:]
		before, _, found := strings.Cut(unread, text)
		if found {
			x.read += len(before) + len(text)
		}
		x.mu.Unlock()
		if found {
			return before
		}
		select {
		case <-x.grown:
		case <-late:
			x.t.Fatalf("%q does not appear after %q in\n%s", text, unread, x.screen)
		}
	}
}

func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := x.file.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// says types a line where the prompt is.
func (x *terminal) says(text string) {
	x.t.Helper()
	x.expect("> ")
	x.types(text + "\r")
	x.expect("\r\n") // the end of what was typed
}

// exits waits for the end of the program.
func (x *terminal) exits(code int) {
	x.t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); _ = x.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(testkit.Patience):
		x.t.Fatalf("the program goes on:\n%s", x.screen)
	}
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		x.t.Errorf("exit %d, want %d:\n%s", got, code, x.screen)
	}
}

const ctrlC, ctrlD = "\x03", "\x04"

// TestChatInATerminal is a person at a real terminal with a real demo: an answer, a
// table that fits, the next page, changes that are denied and approved on their
// cards, a conversation that is opened again, another size, and the end.
func TestChatInATerminal(t *testing.T) {
	t.Parallel()
	d := demoFor(t)
	x := inTerminal(t, 70, "chat", "--as", "alice.chen", "--url", d.Gateway)
	x.expect("/help lists")
	x.says("List all employees")
	x.expect("\r\nFirst name")
	table := "First name" + x.expect("More fields with")
	for line := range strings.SplitSeq(table, "\r\n") {
		if uniseg.StringWidth(line) > 70 {
			t.Errorf("a line is wider than the terminal: %q", line)
		}
	}
	if !strings.Contains(table, "\r\nSusan ") || strings.Count(table, "\r\n") != 51 {
		t.Errorf("the table is not whole:\n%s", table)
	}
	x.expect("/next shows more")
	x.says("/next")
	x.expect("Wright")
	x.says("List all employees")
	x.expect("/next shows more")
	x.says("next page")
	x.expect("the last ones")
	x.says("/next") // there is none after the last, that was asked for in words
	x.expect("there is no list with another page")
	x.says("Delete employee Frank Davis")
	x.expect("Waiting for your approval")
	x.says("/deny")
	x.expect("Action cancelled by user")
	x.says("Increase Sarah's salary to $420,000")
	x.expect("420,000")
	x.expect("Waiting for your approval")
	x.says("approve")
	x.expect("420,000")
	if err := pty.Setsize(x.file, &pty.Winsize{Rows: 40, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	x.says("/history")
	x.expect("List all employees")
	x.says("/open 1")
	x.expect("> List all employees") // what was said, and its table in the new width
	if wide := x.expect("More fields with"); !strings.Contains(wide, "brian.adams@tamshai.local") {
		t.Errorf("the table has the old width:\n%s", wide)
	}
	x.says("/approve")
	x.expect("o change waits here")
	x.expect("> ")
	x.types("half a line" + ctrlC)
	x.exits(0)
	now := d.call(t, "alice.chen", "get_employee", map[string]string{"employee_id": employee(t, "Sarah Kim").ID})
	if !strings.Contains(now.body, "420000") {
		t.Errorf("the salary is not changed: %s", now.body)
	}
}

// TestChatIsStoppedAndResumed: text appears before its answer has ended, Ctrl-C
// stops the answer and the chat goes on, a gateway that is killed in mid-answer and
// started again loses nothing of the conversation and repeats nothing of it.
func TestChatIsStoppedAndResumed(t *testing.T) {
	t.Parallel()
	d, folder := sharedDemo(t), dataFolder(t)
	port := freePort(t)
	file, _ := writeConfigs(t, folder, map[string]string{
		"GATEWAY_PORT": port, "HR_PORT": freePort(t), "ISSUER": d.Issuer, "REDIS": redisServer(t, folder),
		"MORE": fmt.Sprintf("models: {stalling: {provider: openai, model: m, base_url: %q, api_key: k}}", stallingModel(t).URL),
	})
	gateway := "http://localhost:" + port
	first := startConfigured(t, gateway+"/readyz", "gateway", "--config", file)
	x := inTerminal(t, 80, "chat", "--token", d.token(t, "alice.chen", "gateway"), "--url", gateway)
	x.says("hello")
	x.expect("Hello to you.")
	x.says("stall")
	x.expect("One moment") // while the model does not end
	x.types(ctrlC)
	x.expect("Stopped. What you see may be incomplete.")
	x.says("stall again")
	x.expect("One moment")
	first.kill(t)
	x.expect("Connecting again")
	startConfigured(t, gateway+"/readyz", "gateway", "--config", file)
	x.expect("Connected again.")
	if between := x.expect("The answer was interrupted."); strings.Contains(between, "One moment") {
		t.Errorf("the answer is repeated:\n%s", between)
	}
	x.says("hello")
	x.expect("Hello to you.")
	x.expect("> ")
	x.types(ctrlD)
	x.exits(0)

	once := inTerminal(t, 80, "chat", "--once", "stall", "--token", d.token(t, "alice.chen", "gateway"), "--url", gateway)
	once.expect("One moment")
	once.types(ctrlC)
	once.expect("the answer was stopped")
	once.exits(1)
}
