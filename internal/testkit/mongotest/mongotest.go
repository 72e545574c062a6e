// Package mongotest gives tests a server that speaks MongoDB's wire protocol:
// a real one where COUNTERSIGN_TEST_MONGODB_URL names it, else
// mongo-java-server, an implementation in memory, started once a test binary.
// Tests run against MongoDB's own server only where that variable is set. No test
// may rely on what the Java server silently ignores: transactions, partial and
// TTL indexes, collation, validators, maxTimeMS, hints.
//
// Only tests import it. Start with [Start] in a TestMain.
package mongotest

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/javadeps"
)

//go:embed MongoLauncher.java
var launcher []byte

// The engine, and the compiler for machines that have a Java runtime only.
const (
	engine   = "de.bwaldvogel:mongo-java-server:1.47.0"
	compiler = "org.eclipse.jdt:ecj:3.33.0"
)

// Server is a running server, or the reason why there is none.
type Server struct {
	address string
	name    string
	made    atomic.Int64
	missing error
	stop    func()
}

// Start starts a server, or finds the one that the environment names. The first
// start on a machine fetches and compiles, which takes some seconds.
func Start() *Server {
	if address := os.Getenv("COUNTERSIGN_TEST_MONGODB_URL"); address != "" {
		return &Server{address: address, name: "the server of COUNTERSIGN_TEST_MONGODB_URL"}
	}
	s := &Server{name: engine}
	classes, err := prepare()
	if err == nil {
		err = s.launch(classes)
	}
	s.missing = err
	return s
}

// Stop ends the server.
func (s *Server) Stop() {
	if s.stop != nil {
		s.stop()
	}
}

// Name is the engine's name and version, for the last line of a test run.
func (s *Server) Name() string {
	if s.missing != nil {
		return "no MongoDB"
	}
	return s.name
}

// Database returns the server's address and the name of a database of the
// test's own. Without a server the test is skipped by name, or fails where the
// environment has CI=true.
func (s *Server) Database(tb testing.TB) (address, name string) {
	tb.Helper()
	if s.missing != nil {
		testkit.Missing(tb, fmt.Sprintf("%s: %v", engine, s.missing))
	}
	return s.address, fmt.Sprintf("countersign_test_%d_%d", os.Getpid(), s.made.Add(1))
}

// launch runs the launcher, which ends when its standard input closes, so that
// it ends with this process.
func (s *Server) launch(classes string) error {
	command := exec.Command("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes, "MongoLauncher")
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	s.stop = func() {
		_ = input.Close()
		_ = command.Wait() // it was killed
	}
	port, err := listening(output)
	if err != nil {
		s.stop()
		return err
	}
	s.address = "mongodb://127.0.0.1:" + port
	return nil
}

// listening waits for the line "LISTEN port" and then drains the output.
func listening(output io.Reader) (port string, err error) {
	lines := bufio.NewReader(output)
	first := make(chan string, 1)
	go func() { // ends with the process
		line, _ := lines.ReadString('\n')
		first <- line
		_, _ = io.Copy(io.Discard, lines)
	}()
	select {
	case line := <-first:
		if port, ok := strings.CutPrefix(strings.TrimSpace(line), "LISTEN "); ok {
			return port, nil
		}
		return "", fmt.Errorf("the launcher said %q", line)
	case <-time.After(5 * time.Minute):
		return "", errors.New("the launcher did not start within 5 minutes")
	}
}

// prepare fetches the Java dependencies and compiles the launcher, once for a checkout, and
// returns the class path.
func prepare() (classPath string, err error) {
	folder, err := javadeps.Keep("mongotest-1.47.0", "MongoLauncher.java", launcher, build)
	return folder + string(filepath.ListSeparator) + filepath.Join(folder, "*"), err
}

// build makes a folder with the dependencies, the compiled launcher and, last, its
// source.
func build(folder string) error {
	if err := fetch(folder, engine); err != nil {
		return err
	}
	source := filepath.Join(folder, "source", "MongoLauncher.java")
	if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(source, launcher, 0o644); err != nil {
		return err
	}
	options := []string{"-source", "17", "-target", "17", "-nowarn", "-d", folder, "-cp", filepath.Join(folder, "*"), source}
	command := exec.Command("javac", options...)
	if _, err := exec.LookPath("javac"); err != nil {
		tools := filepath.Join(folder, "compiler")
		if err := fetch(tools, compiler); err != nil {
			return err
		}
		path := expand(folder) // the Eclipse compiler reads no wildcards
		options = []string{"-cp", filepath.Join(tools, "*"), "org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn", "-d", folder, "-cp", path, source}
		command = exec.Command("java", options...)
	}
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the launcher: %w: %s", err, said)
	}
	return os.Rename(source, filepath.Join(folder, "MongoLauncher.java"))
}

// fetch copies an artifact and everything that it needs into a folder.
func fetch(folder, artifact string) error {
	parts := strings.Split(artifact, ":")
	project := fmt.Sprintf(`<project><modelVersion>4.0.0</modelVersion><groupId>countersign</groupId><artifactId>mongotest</artifactId><version>1</version>
<dependencies><dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency></dependencies></project>`, parts[0], parts[1], parts[2])
	return javadeps.Fetch(folder, []byte(project))
}

func expand(folder string) string {
	found, _ := filepath.Glob(filepath.Join(folder, "*.jar"))
	return strings.Join(found, string(filepath.ListSeparator))
}
