// Package searchtest gives tests a search engine: the server that
// COUNTERSIGN_TEST_ELASTICSEARCH_URL names, else a node of OpenSearch, started once
// a test binary; of Elasticsearch where COUNTERSIGN_TEST_SEARCH is "elasticsearch"
// (7.10.2) or "elasticsearch9".
// Tests rely only on what all have in common.
//
// Only tests import it. Start with [Start] in a TestMain.
package searchtest

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/javadeps"
)

//go:embed opensearch.pom.xml
var openSearchProject []byte

//go:embed elasticsearch.pom.xml
var elasticsearchProject []byte

const (
	startLimit  = 5 * time.Minute // a busy machine needs one
	stopLimit   = 5 * time.Second
	environment = "COUNTERSIGN_TEST_ELASTICSEARCH_URL"
	choice      = "COUNTERSIGN_TEST_SEARCH"
)

// engine is a server that can be started here.
type engine struct {
	name, version string
	project       []byte // what Maven fetches
	settings      string // the file's name

	// prepare fetches what the engine needs, once for a checkout, and returns its folder.
	prepare func(version string, project []byte) (folder string, err error)
	// command runs a node in a folder, with its conf and room for its data.
	command func(folder, node string, java []string) *exec.Cmd
}

var (
	openSearch = engine{"OpenSearch", "2.19.6", openSearchProject, "opensearch.yml", fetch, runner("org.codelibs.opensearch.runner.OpenSearchRunner")}
	// The newest Elasticsearch whose modules are all published as artifacts. Later ones
	// publish their server without analysers.
	elasticsearch  = engine{"Elasticsearch", "7.10.2", elasticsearchProject, "elasticsearch.yml", fetch, runner("org.codelibs.elasticsearch.runner.ElasticsearchClusterRunner")}
	elasticsearch9 = engine{"Elasticsearch", "9.5.2", elasticsearch9Project, "elasticsearch.yml", prepare9, command9}
)

func (e engine) String() string { return e.name + " " + e.version }

// chosen is the engine that the environment names.
func chosen() engine {
	switch name := os.Getenv(choice); name {
	case "":
		return openSearch
	case "elasticsearch":
		return elasticsearch
	case "elasticsearch9":
		return elasticsearch9
	default:
		panic(choice + ` is "` + name + `": it may be elasticsearch, elasticsearch9 or unset`)
	}
}

const settings = `discovery.type: single-node
network.host: 127.0.0.1
transport.port: 0
action.auto_create_index: false
cluster.routing.allocation.disk.threshold_enabled: false
`

// Server is a running server, or the reason why there is none.
type Server struct {
	engine
	address string
	folder  string
	made    atomic.Int64
	missing error
	exited  chan struct{} // closed when the node has ended
	process *os.Process
}

// Start starts a node, or finds the server that the environment names. The
// first start on a machine fetches 53 MB, which takes half a minute.
func Start() *Server {
	return start("-Xms256m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
}

// StartLarge starts a node for measuring a million documents: 2 GB of heap, and
// the compiler and the collector that servers have. A server that the
// environment names is used as it is.
func StartLarge() *Server { return start("-Xms2g", "-Xmx2g", "-XX:+UseG1GC") }

func start(java ...string) *Server {
	if address := os.Getenv(environment); address != "" {
		return &Server{engine: engine{name: "the server of", version: environment}, address: address}
	}
	testkit.InMemory()
	s := &Server{engine: chosen()}
	folder, err := s.prepare(s.version, s.project)
	if err == nil {
		err = s.launch(folder, java)
	}
	if err != nil {
		s.Stop()
		s.missing = err
	}
	return s
}

// Stop ends the node and removes everything it kept.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
		case <-time.After(stopLimit):
			_ = s.process.Kill()
			<-s.exited
		}
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

// Name is the engine's name and version, for the last line of a test run.
func (s *Server) Name() string {
	if s.missing != nil {
		return "no " + s.engine.name
	}
	return s.String()
}

// Address returns the server's URL and a prefix for the names of a test's own
// indices, which are deleted after it. Without a server the test is skipped by
// name, or fails where the environment has CI=true.
func (s *Server) Address(tb testing.TB) (address, prefix string) {
	tb.Helper()
	// go test remembers a result by the variables that are read while tests run. The node was
	// started before, so that another engine would be answered with the result of the first.
	_, _ = os.Getenv(choice), os.Getenv(environment)
	if s.missing != nil {
		testkit.Missing(tb, fmt.Sprintf("%s: %v", s.engine, s.missing))
	}
	prefix = fmt.Sprintf("test-%d-%d-", os.Getpid(), s.made.Add(1))
	tb.Cleanup(func() {
		if err := s.clean(prefix); err != nil {
			tb.Log("indices were left behind: ", err)
		}
	})
	return s.address, prefix
}

// clean deletes indices by their names: servers may refuse patterns.
func (s *Server) clean(prefix string) error {
	names, err := ask(http.MethodGet, s.address+"/_cat/indices/"+prefix+"*?h=index")
	if list := strings.Fields(names); err == nil && len(list) > 0 {
		_, err = ask(http.MethodDelete, s.address+"/"+strings.Join(list, ","))
	}
	return err
}

func ask(method, address string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", response.Status, said)
	}
	return string(said), err
}

// launch starts a node in a folder of its own and waits until it answers. It
// fails when the node ends, or does not answer in time.
func (s *Server) launch(folder string, java []string) error {
	if err := s.settle(); err != nil {
		return err
	}
	command := s.command(folder, s.folder, java)
	command.Dir = s.folder
	bindToParent(command)
	output, written, err := os.Pipe()
	if err != nil {
		return err
	}
	command.Stdout, command.Stderr = written, written
	s.exited = make(chan struct{})
	started := make(chan error, 1)
	go s.keep(command, started)
	err = <-started
	_ = written.Close() // the node has its own copy; ours would keep the reader open
	if err != nil {
		_ = output.Close()
		return err
	}
	s.process = command.Process
	if s.address, err = published(output); err != nil {
		return err
	}
	_, err = ask(http.MethodGet, s.address+"/_cluster/health?wait_for_status=green&timeout=100s")
	return err
}

// keep starts the node and stays on one thread until it has ended: the kernel
// sends the signal of [bindToParent] when that thread ends.
func (s *Server) keep(command *exec.Cmd, started chan<- error) {
	defer close(s.exited)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := command.Start()
	started <- err
	if err == nil {
		_ = command.Wait() // it was killed, or published reports its end
	}
}

// settle makes the node's folder.
func (s *Server) settle() (err error) {
	if s.folder, err = os.MkdirTemp("", "countersign-search-"); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(s.folder, "conf"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.folder, "conf", s.settings), []byte(settings), 0o644)
}

var publishes = regexp.MustCompile(`HttpServerTransport.*publish_address \{([0-9.]+:[0-9]+)\}`)

// published waits for the address that the node logs, and then drains its
// output: a full pipe would block it.
func published(output io.ReadCloser) (address string, err error) {
	found := make(chan string, 1)
	go func() { // ends with the node
		defer output.Close()
		lines := bufio.NewReader(output)
		for {
			line, err := lines.ReadString('\n')
			if m := publishes.FindStringSubmatch(line); m != nil {
				found <- "http://" + m[1]
				break
			}
			if err != nil {
				found <- ""
				return
			}
		}
		_, _ = io.Copy(io.Discard, lines)
	}()
	select {
	case address := <-found:
		if address == "" {
			return "", errors.New("the node ended before it had an address")
		}
		return address, nil
	case <-time.After(startLimit):
		return "", fmt.Errorf("the node had no address within %s", startLimit)
	}
}

// runner runs a node by the class of a cluster runner.
func runner(main string) func(folder, node string, java []string) *exec.Cmd {
	return func(folder, node string, java []string) *exec.Cmd {
		return exec.Command("java", append(java, "-cp", filepath.Join(folder, "*"), main,
			"-basePath", filepath.Join(node, "node"), "-confPath", filepath.Join(node, "conf"),
			"-numOfNode", "1", "-clusterName", filepath.Base(node), "-baseHttpPort", "-1")...)
	}
}

// fetch fetches an engine that is jars alone.
func fetch(version string, project []byte) (folder string, err error) {
	return javadeps.Keep("searchtest-"+version, "pom.xml", project, func(folder string) error { return javadeps.Fetch(folder, project) })
}
