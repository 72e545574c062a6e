package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/telemetry"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// clock ticks a second each time it is read.
func clock() func() time.Time {
	var ticks atomic.Int64
	return func() time.Time { return noon.Add(time.Duration(ticks.Add(1)) * time.Second) }
}

func openAt(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(path, &Options{Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func openNew(t testing.TB) (*Log, string) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	return openAt(t, path), path
}

func appendAll(t testing.TB, l *Log, events ...Event) {
	t.Helper()
	for _, e := range events {
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func readAll(t testing.TB, path string) []Event {
	t.Helper()
	var all []Event
	for e, err := range Events(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func wantWhole(t testing.TB, path string, events uint64) Report {
	t.Helper()
	report, err := Verify(path)
	if err != nil || report.Broken != nil || report.Events != events {
		t.Fatalf("Verify: got %d events, broken %v, error %v; want %d valid ones", report.Events, report.Broken, err, events)
	}
	return report
}

func TestAppendNamesPersonAndRequest(t *testing.T) {
	l, path := openNew(t)
	p := access.NewPrincipal(access.Claims{Issuer: "https://id", Subject: "s-1", Username: "alice.chen"})
	ctx := telemetry.WithRequest(access.With(t.Context(), p), telemetry.Request{ID: "req-1", Trace: "trace-1"})
	if err := l.Append(ctx, Event{Kind: Outcome, Tool: "get_employee", Rows: 1, Outcome: "success"}); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(ctx, Event{Kind: Denial, Subject: "s-2"}); err != nil {
		t.Fatal(err)
	}
	got := readAll(t, path)
	want := Event{
		Seq: 1, Time: noon.Add(time.Second), Kind: Outcome, Issuer: "https://id", Subject: "s-1", Username: "alice.chen",
		Tool: "get_employee", Rows: 1, Outcome: "success", RequestID: "req-1", TraceID: "trace-1", Prev: genesis, Hash: got[0].Hash,
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("first event (-want +got):\n%s", diff)
	}
	if got[1].Issuer != "" || got[1].Username != "" || got[1].Prev != got[0].Hash {
		t.Errorf("second event: got %+v, want only its own person, chained to the first", got[1])
	}
}

func TestReopeningContinuesTheChain(t *testing.T) {
	l, path := openNew(t)
	appendAll(t, l, Event{Kind: Turn}, Event{Kind: Outcome})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), Event{Kind: Turn}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Append after Close: got %v, want os.ErrClosed", err)
	}
	appendAll(t, openAt(t, path), Event{Kind: Intent})
	wantWhole(t, path, 3)
}

func TestOneProcessOpensAPath(t *testing.T) {
	_, path := openNew(t)
	if l, err := Open(path, nil); err == nil {
		_ = l.Close()
		t.Fatal("a second Open of a held path succeeded")
	}
}

func TestTornLastLineIsTruncatedAndRecorded(t *testing.T) {
	l, path := openNew(t)
	appendAll(t, l, Event{Kind: Turn}, Event{Kind: Outcome})
	_ = l.Close()
	addBytes(t, path, `{"seq":3,"time":"2026`)

	if report, _ := Verify(path); report.Broken == nil || report.Broken.Line != 3 || report.Broken.Reason != TruncatedTail {
		t.Errorf("before reopening: got %v, want a truncated tail at line 3", report.Broken)
	}
	_ = openAt(t, path)
	report := wantWhole(t, path, 3)
	want := []Remark{{3, "21 bytes of a torn last line were truncated. What was there cannot be known.", Recovered}}
	if diff := cmp.Diff(want, report.Remarks); diff != "" {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
}

func TestReopeningRecordsLostEvents(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		note   string
	}{
		"lines cut": {func(t *testing.T, path string) { keepLines(t, path, 1) }, "The head named event 3 and the log ended with 1: 2 events were lost."},
		"all cut":   {func(t *testing.T, path string) { keepLines(t, path, 0) }, "The head named event 3 and the log ended with 0: 3 events were lost."},
		"no head": {func(t *testing.T, path string) { _ = os.Remove(headPath(path)) },
			"The head was missing or unreadable: events after number 3 may have been lost."},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := openNew(t)
			appendAll(t, l, Event{Kind: Turn}, Event{Kind: Turn}, Event{Kind: Turn})
			_ = l.Close()
			c.damage(t, path)
			_ = openAt(t, path)
			events := readAll(t, path)
			last := events[len(events)-1]
			if last.Kind != Recovery || last.Note != c.note {
				t.Errorf("last event: got %s %q, want %q", last.Kind, last.Note, c.note)
			}
			wantWhole(t, path, uint64(len(events)))
		})
	}
}

func TestBrokenLogIsNotContinued(t *testing.T) {
	l, path := openNew(t)
	appendAll(t, l, Event{Kind: Turn})
	_ = l.Close()
	editFile(t, path, func(b []byte) []byte { return bytes.Replace(b, []byte("turn"), []byte("tore"), 1) })
	if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), "altered") {
		t.Errorf("Open: got %v, want it refused as altered", err)
	}
}

// TestFullDiskLeavesNoPartialLine lets writes fail in the middle of a line.
func TestFullDiskLeavesNoPartialLine(t *testing.T) {
	l, path := openNew(t)
	appendAll(t, l, Event{Kind: Turn})
	disk := &disk{file: l.file}
	l.file = disk
	for space := range 3 {
		disk.space.Store(int64(space * 40))
		for range 2 {
			err := l.Append(t.Context(), Event{Kind: Intent})
			if !fault.Is(err, fault.ServiceDown) || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("Append on a full disk: got %v, want SERVICE_UNAVAILABLE because of ENOSPC", err)
			}
		}
		if report := wantWhole(t, path, uint64(2*space+1)); report.Status() != Unwritten {
			t.Errorf("on a full disk: got status %d, want %d", report.Status(), Unwritten)
		}
		disk.space.Store(1 << 20)
		appendAll(t, l, Event{Kind: Intent})
		events := readAll(t, path)
		if e := events[len(events)-2]; e.Kind != Recovery || e.Step != stepUnwritten || e.Count != 2 {
			t.Errorf("before the first event afterwards: got %+v, want a line that counts 2 events", e)
		}
	}
	if report := wantWhole(t, path, 7); report.Status() != Unwritten {
		t.Errorf("afterwards: got status %d, want %d", report.Status(), Unwritten)
	}
}

func TestTornBytesThatCannotBeTruncatedBlockTheNextWrite(t *testing.T) {
	l, path := openNew(t)
	disk := &disk{file: l.file, stuck: true}
	l.file = disk
	disk.space.Store(10)
	for range 2 {
		if err := l.Append(t.Context(), Event{Kind: Turn}); err == nil {
			t.Fatal("Append succeeded with torn bytes in front of it")
		}
		disk.space.Store(1 << 20)
	}
	disk.stuck = false
	appendAll(t, l, Event{Kind: Turn})
	wantWhole(t, path, 2)
}

func TestFailedSyncRefusesAndRecovers(t *testing.T) {
	l, path := openNew(t)
	disk := &disk{file: l.file}
	disk.space.Store(1 << 20)
	disk.sick.Store(true)
	l.file = disk
	for range 2 {
		if err := l.Append(t.Context(), Event{Kind: Intent}); !errors.Is(err, syscall.EIO) {
			t.Fatalf("Append: got %v, want the sync's error", err)
		}
	}
	appendAll(t, l, Event{Kind: Outcome}) // needs no sync
	disk.sick.Store(false)
	appendAll(t, l, Event{Kind: Intent})
	wantWhole(t, path, 4)
}

func TestOnlyIntentsAndConfirmationsWaitForTheDisk(t *testing.T) {
	l, _ := openNew(t)
	disk := &disk{file: l.file}
	disk.space.Store(1 << 20)
	l.file = disk
	appendAll(t, l, Event{Kind: Outcome}, Event{Kind: Denial}, Event{Kind: Turn})
	if n := disk.syncs.Load(); n != 0 {
		t.Errorf("syncs after outcome, denial and turn: got %d, want 0", n)
	}
	appendAll(t, l, Event{Kind: Intent}, Event{Kind: Confirmation})
	if n := disk.syncs.Load(); n != 2 {
		t.Errorf("syncs after intent and confirmation: got %d, want 2", n)
	}
}

// TestConcurrentIntentsShareSyncs blocks the first sync until every other event
// is written: one more sync must cover all of them.
func TestConcurrentIntentsShareSyncs(t *testing.T) {
	const writers = 100
	l, path := openNew(t)
	disk := &disk{file: l.file, barrier: make(chan struct{})}
	disk.space.Store(1 << 20)
	l.file = disk
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			if err := l.Append(context.Background(), Event{Kind: Intent}); err != nil {
				t.Error(err)
			}
		})
	}
	for l.end().seq < writers {
		runtime.Gosched()
	}
	close(disk.barrier)
	all.Wait()
	if n := disk.syncs.Load(); n > 2 {
		t.Errorf("syncs for %d concurrent intents: got %d, want at most 2", writers, n)
	}
	wantWhole(t, path, writers)
}

func TestLinesOfAnyTextAreBounded(t *testing.T) {
	l, path := openNew(t)
	hostile := []string{strings.Repeat("ü<", 1<<20), strings.Repeat("\x00", 1<<20), strings.Repeat("\xff", 1<<20), strings.Repeat("7", 900_000), strings.Repeat("\U000e0041", 1<<16)}
	for _, text := range hostile {
		appendAll(t, l, Event{
			Kind: Denial, Issuer: text, Subject: text, Username: text, Server: text, Tool: text, Step: text, Confirmation: text,
			Conversation: text, Digest: text, Outcome: text, Note: text, RequestID: text, TraceID: text, Row: text, TaintedBy: text, Roles: text, Shown: strings.Repeat("x", 5*1024) + "+", Rows: -1 << 62, DurationMS: -1 << 62,
		})
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.SplitAfter(whole, []byte("\n")) {
		if len(line) > MaxLine {
			t.Errorf("line %d has %d bytes, want at most %d", i+1, len(line), MaxLine)
		}
	}
	if got := readAll(t, path)[0].Tool; !strings.HasPrefix(got, "ü<ü<") || !strings.HasSuffix(got, "…") {
		t.Errorf("clipped tool: got %q, want its beginning and an ellipsis", got)
	}
	wantWhole(t, path, uint64(len(hostile)))
}

func TestReasonOfAChangeIsWhole(t *testing.T) {
	l, path := openNew(t)
	reason := strings.Repeat("漢", 500) // as long as a tool lets it be
	appendAll(t, l, Event{Kind: Intent, Note: reason, Subject: strings.Repeat("s", 255)})
	if got := readAll(t, path)[0]; got.Note != reason || len(got.Subject) != 255 {
		t.Errorf("got %d bytes of the reason and %d of the subject, want all", len(got.Note), len(got.Subject))
	}
}

// disk is a real file that can be full, fail to sync, or sync late.
type disk struct {
	file
	space   atomic.Int64
	sick    atomic.Bool
	stuck   bool
	barrier chan struct{}
	syncs   atomic.Int64
}

func (d *disk) Write(b []byte) (int, error) {
	if space := d.space.Load(); int64(len(b)) > space {
		n, _ := d.file.Write(b[:space])
		return n, syscall.ENOSPC
	}
	return d.file.Write(b)
}

func (d *disk) Truncate(size int64) error {
	if d.stuck {
		return syscall.EIO
	}
	return d.file.Truncate(size)
}

func (d *disk) Sync() error {
	d.syncs.Add(1)
	if d.barrier != nil {
		<-d.barrier
	}
	if d.sick.Load() {
		return syscall.EIO
	}
	return d.file.Sync()
}

func editFile(t testing.TB, path string, edit func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, edit(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func addBytes(t testing.TB, path, text string) {
	editFile(t, path, func(b []byte) []byte { return append(b, text...) })
}

func keepLines(t testing.TB, path string, n int) {
	editFile(t, path, func(b []byte) []byte { return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:n], nil) })
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	l, path := openNew(t)
	appendAll(t, l, Event{Kind: Outcome, Tool: "list_lions"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, headPath(path)} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: got %o, want 600", filepath.Base(file), got)
		}
	}
}

// TestLineIsTheEventAsJSON: a line is written by hand, member by member, and has each
// field of an event as encoding/json writes it.
func TestLineIsTheEventAsJSON(t *testing.T) {
	texts := []string{"", "plain", "quoted \"x\" \\ <b>&", "two\nlines \x01\u2028", "Zoë 😀 \u202e", "torn \xff"}
	for _, text := range texts {
		for n := range 3 {
			e := Event{Time: time.Date(2026, 11, 26, 18, 0, 0, 120_000*n, time.UTC)}
			fill(reflect.ValueOf(&e).Elem(), text, n)
			want, err := json.Marshal(struct {
				Event
				Hash string `json:"hash,omitempty"` // the line's own is not part of what is hashed
			}{Event: e})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(e.append(nil)) + "}"; got != string(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}

// fill sets the texts and numbers of a struct; n of zero leaves pointers nil.
func fill(v reflect.Value, text string, n int) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(text)
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(-n))
		case reflect.Uint64:
			f.SetUint(uint64(n))
		case reflect.Pointer:
			if n > 0 {
				f.Set(reflect.New(f.Type().Elem()))
				fill(f.Elem(), text, n)
			}
		}
	}
}
