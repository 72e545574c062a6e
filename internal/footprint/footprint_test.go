//go:build linux

package footprint

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
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

// TestWatchUnmapsTheProgramAgain: each minute, and not after its end.
func TestWatchUnmapsTheProgramAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { Watch(ctx); close(ended) }()
		for range 2 {
			used := readProgram(t)
			time.Sleep(period)
			synctest.Wait()
			if after := ofProgram(t); after > used*3/4 {
				t.Errorf("%d KiB of the program are resident after a minute, %d when it was read", after, used)
			}
		}
		end()
		<-ended
	})
}

// readProgram makes the program's own mappings resident, and returns how much is.
func readProgram(t *testing.T) (kib int) {
	t.Helper()
	self, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range releasable(string(self), program) {
		if _, _, failed := syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, madvPopulateRead); failed != 0 {
			t.Skip("this kernel reads no pages ahead on request: ", failed)
		}
	}
	return ofProgram(t)
}

const madvPopulateRead = 22 // since Linux 5.14

// TestChangedPagesStay: what the loader has relocated is not in the file.
func TestChangedPagesStay(t *testing.T) {
	mappings := `555c7c400000-555c7c600000 r-xp 00000000 fe:00 17                         /usr/bin/countersign
Rss:                1024 kB
Anonymous:             0 kB
555c7c600000-555c7c700000 r--p 00200000 fe:00 17                         /usr/bin/countersign
Anonymous:            64 kB
555c7c700000-555c7c800000 rw-p 00300000 fe:00 17                         /usr/bin/countersign
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 18                         /usr/lib/libc.so.6
Anonymous:             0 kB
7f0000002000-7f0000003000 r--p 00000000 00:00 0
Anonymous:             0 kB
`
	got, want := releasable(mappings, "/usr/bin/countersign"), []addressRange{{0x555c7c400000, 0x555c7c600000}}
	if !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}
