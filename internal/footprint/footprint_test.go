//go:build linux

package footprint

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// ofProgram is how much of the program file the process has mapped, in KiB. On a file
// system in memory the kernel counts it as shared.
func ofProgram(t *testing.T) (kib int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "RssFile:" || fields[0] == "RssShmem:" {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	return kib
}

// TestTrimUnmapsTheProgram: what the start of the process has read is not resident
// afterwards, and the process goes on.
func TestTrimUnmapsTheProgram(t *testing.T) {
	self, err := os.ReadFile("/proc/self/maps")
	if err != nil || !strings.Contains(string(self), "r-xp") {
		t.Fatalf("got %s (%v)", self, err)
	}
	before := ofProgram(t)
	Trim()
	if after := ofProgram(t); after > before*3/4 {
		t.Errorf("%d KiB of the program are resident after it, %d before", after, before)
	}
}
