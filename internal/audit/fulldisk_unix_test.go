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
	onFullDisk(t, dir)
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

// onFullDisk runs the test in a process of its own, with the folder.
func onFullDisk(t *testing.T, dir string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), fullDiskFolder+"="+dir)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// limitFiles bounds the files of this process.
func limitFiles(most uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	unlimited := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &unlimited); err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: unlimited.Max})
}

// TestStartOnAFullDiskSignsNothing: a rewritten log has no space for the event that says so.
func TestStartOnAFullDiskSignsNothing(t *testing.T) {
	if dir := os.Getenv(fullDiskFolder); dir != "" {
		info, err := os.Stat(filepath.Join(dir, "hr.jsonl"))
		if err := errors.Join(err, limitFiles(uint64(info.Size()))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(filepath.Join(dir, "hr.jsonl"), &Options{Name: "hr", Signer: signerOf(t, "hr")}); !errors.Is(err, syscall.EFBIG) {
			t.Fatalf("got %v, want no start", err)
		}
		return
	}
	dir := t.TempDir()
	start(t, dir, "hr")
	path := filepath.Join(dir, "hr.jsonl")
	rewrite(t, path, nil, func(e *Event) { e.Rows++ })
	onFullDisk(t, dir)
	for range 2 {
		if status, text := verifyAll(t, keyOf(t, "hr"), path); status != Contradicted {
			t.Errorf("got status %d: %s; want %d", status, text, Contradicted)
		}
		start(t, dir, "hr")
	}
}

func fillUp(t *testing.T, dir string) error {
	l := openSigned(t, dir, "hr")
	if err := limitFiles(8 << 10); err != nil {
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
