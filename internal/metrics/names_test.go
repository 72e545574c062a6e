package metrics

import (
	"fmt"
	"testing"
	"time"
)

// TestCountersOfLabelsWithoutABoundAreNotKept: names that others choose take no memory.
func TestCountersOfLabelsWithoutABoundAreNotKept(t *testing.T) {
	m := New()
	for i := range 2 * maxNames {
		m.Upstream("foreign", fmt.Sprint("no name ", i), "success", time.Millisecond)
		m.Upstream("foreign", fmt.Sprint("tool_", i), "success", time.Millisecond)
	}
	if kept := len(m.upstreamCounts.known); kept > maxNames {
		t.Errorf("%d counters are kept, want %d at most", kept, maxNames)
	}
}
