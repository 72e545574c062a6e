package audit

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkAppend asks what the chain costs over writing the same bytes to a
// file (floor), for events that are only written and for those that are synced,
// alone and a hundred at once.
func BenchmarkAppend(b *testing.B) {
	event := Event{
		Kind: Outcome, Issuer: "https://id.example.com", Subject: "0b0e2a54-6f2a-4a53-9a3b-6c1f0a5b7c11", Username: "alice.chen",
		Server: "hr", Tool: "list_employees", Digest: genesis, Rows: 50, Outcome: "success", DurationMS: 3, RequestID: "7f1f6a52", TraceID: genesis[:32],
	}
	sealed := event
	sealed.Time, sealed.Prev = time.Now().UTC(), genesis
	line := seal(&sealed)
	b.Run("written/floor", func(b *testing.B) { benchmarkFloor(b, line, false) })
	b.Run("written/log", func(b *testing.B) { benchmarkLog(b, event, nil) })
	signer, err := NewSigner([]byte("a secret of 32 bytes or more, 123"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("written/log-signed", func(b *testing.B) { benchmarkLog(b, event, signer) })
	event.Kind = Intent
	b.Run("synced/floor", func(b *testing.B) { benchmarkFloor(b, line, true) })
	b.Run("synced/log", func(b *testing.B) { benchmarkLog(b, event, nil) })
	b.Run("synced/log-100-at-once", func(b *testing.B) { benchmarkTogether(b, event) })
	b.Run("verified", func(b *testing.B) { benchmarkVerify(b, event) })
}

func benchmarkFloor(b *testing.B, line []byte, sync bool) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if sync {
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchmarkLog(b *testing.B, e Event, signer *Signer) {
	l, err := Open(filepath.Join(b.TempDir(), "audit.jsonl"), &Options{Now: clock(), Signer: signer})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(context.Background(), e); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkTogether(b *testing.B, e Event) {
	l, _ := openNew(b)
	b.SetParallelism(50) // times GOMAXPROCS
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := l.Append(context.Background(), e); err != nil {
				b.Error(err)
			}
		}
	})
}

func benchmarkVerify(b *testing.B, e Event) {
	l, path := openNew(b)
	e.Kind = Outcome
	for range 1000 {
		appendAll(b, l, e)
	}
	record, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		if report, err := VerifyReader(bytes.NewReader(record), Head{}); err != nil || report.Broken != nil {
			b.Fatal(report.Broken, err)
		}
	}
}
