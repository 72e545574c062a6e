package audit

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// written makes a log of n events and closes it.
func written(t testing.TB, n int) (path string) {
	l, path := openNew(t)
	for i := range n {
		appendAll(t, l, Event{Kind: Outcome, Tool: "list_employees", Rows: i, Note: `"quoted" <b> ü`})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestVerifyNamesTheFirstBrokenLine damages a log of eight lines.
func TestVerifyNamesTheFirstBrokenLine(t *testing.T) {
	replace := func(from, to string) func([]string) []string {
		return func(l []string) []string { l[4] = strings.Replace(l[4], from, to, 1); return l }
	}
	for name, c := range map[string]struct {
		edit   func(lines []string) []string
		line   uint64
		reason Reason
	}{
		"value edited":       {replace(`"rows":4`, `"rows":0`), 5, Altered},
		"number edited":      {replace(`"seq":5`, `"seq":6`), 5, Altered},
		"hash edited":        {replace(`"hash":"`, `"hash":"0`), 5, Altered},
		"type edited":        {replace(`"rows":4`, `"rows":"4"`), 5, Altered},
		"space added":        {replace(`{"seq"`, `{ "seq"`), 5, Altered},
		"member added":       {replace(`{"seq"`, `{"seq":5,"seq"`), 5, Altered},
		"no JSON":            {replace(`{`, ``), 5, NotJSON},
		"other JSON":         {func(l []string) []string { l[4] = "[]\n"; return l }, 5, Altered},
		"blank line":         {func(l []string) []string { return slices.Insert(l, 4, "\n") }, 5, NotJSON},
		"endless line":       {func(l []string) []string { l[4] = strings.Repeat("x", 3*maxLine) + "\n"; return l }, 5, NotJSON},
		"rewritten":          {rewritten, 6, Altered},
		"deleted":            {func(l []string) []string { return slices.Delete(l, 4, 5) }, 5, Missing},
		"first deleted":      {func(l []string) []string { return l[1:] }, 1, Missing},
		"two deleted":        {func(l []string) []string { return slices.Delete(l, 4, 6) }, 5, Missing},
		"swapped":            {func(l []string) []string { l[4], l[5] = l[5], l[4]; return l }, 5, Reordered},
		"moved to the end":   {func(l []string) []string { return append(slices.Delete(slices.Clone(l), 4, 5), l[4]) }, 5, Reordered},
		"duplicated":         {func(l []string) []string { return slices.Insert(l, 5, l[4]) }, 6, Repeated},
		"earlier duplicated": {func(l []string) []string { return slices.Insert(l, 5, l[0]) }, 6, Repeated},
		"last deleted":       {func(l []string) []string { return l[:7] }, 8, TruncatedTail},
		"last torn":          {func(l []string) []string { l[7] = l[7][:30]; return l }, 8, TruncatedTail},
		"last newline gone":  {func(l []string) []string { l[7] = strings.TrimSpace(l[7]); return l }, 8, TruncatedTail},
		"all deleted":        {func([]string) []string { return nil }, 1, TruncatedTail},
		"last replaced":      {lastReplaced, 8, Altered},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, 8)
			editFile(t, path, func(b []byte) []byte {
				parts := strings.SplitAfter(string(b), "\n")
				return []byte(strings.Join(c.edit(parts[:8]), ""))
			})
			report, err := Verify(path)
			if err != nil {
				t.Fatal(err)
			}
			if report.Broken == nil || report.Broken.Line != c.line || report.Broken.Reason != c.reason {
				t.Fatalf("got %v, want line %d: %s", report.Broken, c.line, c.reason)
			}
			if report.Events != c.line-1 {
				t.Errorf("valid events: got %d, want %d", report.Events, c.line-1)
			}
		})
	}
}

// rewritten changes line 5 and gives it a matching hash.
func rewritten(l []string) []string {
	e, _ := parse([]byte(strings.TrimSpace(l[4])))
	e.Rows = 99
	line := seal(&e)
	l[4] = string(line)
	return l
}

// lastReplaced does the same to line 8, where only the head differs.
func lastReplaced(l []string) []string {
	e, _ := parse([]byte(strings.TrimSpace(l[7])))
	e.Rows = 99
	line := seal(&e)
	l[7] = string(line)
	return l
}

func TestVerifyNeedsTheHead(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing":    os.Remove,
		"unreadable": func(path string) error { return os.WriteFile(path, []byte("8"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, 8)
			if err := spoil(headPath(path)); err != nil {
				t.Fatal(err)
			}
			report, err := Verify(path)
			if err != nil || report.Broken == nil || report.Broken.Reason != NoHead || report.Events != 8 {
				t.Errorf("got %v after %d events, error %v; want %s after 8", report.Broken, report.Events, err, NoHead)
			}
		})
	}
}

func TestVerifyRemarksOnAClockThatWentBack(t *testing.T) {
	now := noon
	l, path := openNew(t)
	l.o.Now = func() time.Time { return now }
	appendAll(t, l, Event{Kind: Turn})
	now = now.Add(-time.Hour)
	appendAll(t, l, Event{Kind: Turn})
	if report := wantWhole(t, path, 2); len(report.Remarks) != 1 || report.Remarks[0].Line != 2 {
		t.Errorf("remarks: got %v, want one on line 2", report.Remarks)
	}
}

func TestVerifyWhileWriting(t *testing.T) {
	l, path := openNew(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 500 {
			if err := l.Append(t.Context(), Event{Kind: Outcome}); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 20 {
		if report, err := Verify(path); err != nil || (report.Broken != nil && report.Broken.Line <= report.Head.Seq) {
			t.Errorf("got %v, error %v", report.Broken, err)
		}
	}
	<-done
	wantWhole(t, path, 500)
}

// FuzzParse parses lines: none may panic, and an accepted event must be rejected
// when any byte of it changes.
func FuzzParse(f *testing.F) {
	e := Event{Seq: 1, Time: noon, Kind: Outcome, Tool: "get_employee", Prev: genesis}
	line := seal(&e)
	f.Add(bytes.TrimSpace(line), 3)
	f.Add([]byte(`{"hash":""}`), 0)
	f.Add([]byte(`[]`), 1)
	f.Fuzz(func(t *testing.T, line []byte, at int) {
		if _, broken := parse(line); broken != "" {
			return
		}
		changed := bytes.Clone(line)
		changed[uint(at)%uint(len(changed))] ^= 1
		if _, broken := parse(changed); broken == "" {
			t.Errorf("accepted with a byte changed: %q", changed)
		}
	})
}

// FuzzVerify verifies whole logs.
func FuzzVerify(f *testing.F) {
	b, err := os.ReadFile(written(f, 3))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, record []byte) {
		report, err := VerifyReader(bytes.NewReader(record), Head{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Broken == nil && report.Events != uint64(bytes.Count(record, []byte("\n"))) {
			t.Errorf("complete, with %d events of %d lines", report.Events, bytes.Count(record, []byte("\n")))
		}
	})
}

func ExampleVerifyReader() {
	record := `{"seq":2,"time":"2026-03-02T12:00:00Z","kind":"turn","rows":0,"prev":"","hash":""}` + "\n"
	report, _ := VerifyReader(strings.NewReader(record), Head{})
	fmt.Println(report.Broken)
	// Output: line 1: altered: its text does not match its hash.
}
