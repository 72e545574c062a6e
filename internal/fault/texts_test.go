package fault_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

// The founding document's texts, letter by letter, and the page greets with its.
func TestStandardTexts(t *testing.T) {
	for got, want := range map[string]string{
		fault.Welcome:     "Hello! I'm an AI assistant that can help answer questions and use tools to get information.",
		fault.TooBusy:     "I'm currently processing too many requests. Please try again in a moment.",
		fault.Maintenance: "The system is currently undergoing maintenance. Some features may be unavailable.",
		fmt.Sprintf(fault.ToolError, "get_pipeline") + ": Too slow": "I encountered an error when using the get_pipeline tool: Too slow",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	page, err := os.ReadFile("../../web/index.html")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), fault.Welcome) {
		t.Error("the page greets in other words")
	}
}
