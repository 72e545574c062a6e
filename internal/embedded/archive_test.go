package embedded

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

// TestOtherArchiveIsRefused serves bytes whose digest is not the pinned one.
func TestOtherArchiveIsRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("PK, but altered")) }))
	defer server.Close()
	folder := t.TempDir()
	err := archive{server.URL, archiveDigests["linux-amd64"]}.install(t.Context(), filepath.Join(folder, archiveVersion), func(string) {})
	if !fault.Is(err, fault.ServiceDown) || !strings.Contains(fault.From(err).Message, "was not used") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestMissingArchiveNamesTheAlternatives: the repository answers 404.
func TestMissingArchiveNamesTheAlternatives(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	err := archive{server.URL, ""}.install(t.Context(), filepath.Join(t.TempDir(), archiveVersion), func(string) {})
	if f := fault.From(err); !strings.Contains(f.Message, "could not be fetched") || !strings.Contains(f.SuggestedAction, "--postgres URL") {
		t.Errorf("got %v", err)
	}
}
