//go:build unix

package audit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"countersign.dev/internal/fault"
)

// fullDiskFolder tells a copy of the test program to fill a log up to the limit
// that the operating system sets on its files.
const fullDiskFolder = "COUNTERSIGN_TEST_FULL_DISK"

// TestFullDiskOfTheOperatingSystem runs a process whose files cannot grow beyond a
// limit: changes are refused, the head counts what could not be written, also when
// the process ends, and afterwards a line does.
func TestFullDiskOfTheOperatingSystem(t *testing.T) {
	if dir := os.Getenv(fullDiskFolder); dir != "" {
		if err := fillUp(t, dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDiskOfTheOperatingSystem$")
	child.Env = append(os.Environ(), fullDiskFolder+"="+dir)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := filepath.Join(dir, "hr.jsonl")
	key := Evidence{Keys: []string{signerOf(t, "hr").PublicKey()}}
	if status, text := verifyAll(t, key, path); status != Unwritten {
		t.Errorf("after the process ended on a full disk: got status %d: %s; want %d", status, text, Unwritten)
	}
	appendAll(t, openSigned(t, dir, "hr"), Event{Kind: Intent})
	status, text := verifyAll(t, key, path)
	if status != Unwritten {
		t.Errorf("opened again: got status %d: %s; want %d", status, text, Unwritten)
	}
}

func fillUp(t *testing.T, dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	l := openSigned(t, dir, "hr")
	unlimited := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &unlimited); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 8 << 10, Max: unlimited.Max}); err != nil {
		return err
	}
	written, refused := 0, 0
	for range 100 {
		err := l.Append(t.Context(), Event{Kind: Intent})
		switch {
		case err == nil:
			written++
		case fault.Is(err, fault.ServiceDown) && errors.Is(err, syscall.EFBIG):
			refused++
		default:
			return err
		}
	}
	if written == 0 || refused == 0 || written+refused != 100 {
		return fmt.Errorf("%d events were written and %d refused", written, refused)
	}
	results, err := VerifyAll([]string{l.path}, Evidence{})
	if err != nil {
		return err
	}
	if got := results[0]; got.Broken != nil || got.Status() != Unwritten || got.Events != uint64(written)+1 {
		return fmt.Errorf("while the disk is full: %d events, %v, status %d", got.Events, got.Broken, got.Status())
	}
	return nil
}
