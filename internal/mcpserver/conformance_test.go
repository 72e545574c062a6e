package mcpserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"countersign.dev/internal/testkit/mcptest"
)

// scored is a line of the suite's summary.
var scored = regexp.MustCompile(`(?m)^(✓|✗) (\S+): (\d+) passed, (\d+) failed`)

// TestOfficialConformance runs the official suite's server scenarios of both
// requirement sets against the fixture on one URL. Every scored one must pass: the
// suite's exit status counts them.
func TestOfficialConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("a run of Node beside it says little about races: the long run has it")
	}
	suite := mcptest.Conformance(t)
	s := fixture(t)
	watched(t, s)
	inner := s.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer suite") // it cannot send one
		inner.ServeHTTP(w, r)
	}))
	defer func() { s.Close(); server.Close() }()
	for set, least := range map[string]int{"2026-07-28": 37, "2025-11-25": 30} {
		said, err := suite.Run(t, "server", "--url", server.URL+"/mcp", "--requirements", set, "-o", t.TempDir())
		if ran := len(scored.FindAllString(said, -1)); err != nil || ran < least {
			t.Errorf("%s: %v, %d scenarios, want %d at least\n%s", set, err, ran, least, failures(said))
		}
	}
}

func failures(said string) (lines string) {
	for _, m := range scored.FindAllStringSubmatch(said, -1) {
		if m[1] == "✗" {
			lines += fmt.Sprintln(m[0])
		}
	}
	return lines
}
