package state

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func all(until time.Time, entries ...string) map[string]time.Time {
	m := make(map[string]time.Time)
	for _, e := range entries {
		m[e] = until
	}
	return m
}

func listed(t *testing.T, l *List, known string) (entries, version string) {
	t.Helper()
	found, version, err := l.Listed(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), " "), version
}

func TestListIsReadWhenItChanged(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		l, now := NewList(connect(t, e, nil), "l", 24*time.Hour), time.Now()
		if got, version := listed(t, l, ""); got != "" || version != "" {
			t.Errorf("never filled: got %q, version %q", got, version)
		}
		enlist := func(until time.Time, entries ...string) {
			t.Helper()
			if err := l.Enlist(t.Context(), all(until, entries...), now); err != nil {
				t.Fatal(err)
			}
		}
		enlist(now.Add(time.Hour), "a", "b")
		got, first := listed(t, l, "")
		if got != "a b" || first == "" {
			t.Errorf("got %q, version %q", got, first)
		}
		if got, version := listed(t, l, first); got != "" || version != first {
			t.Errorf("unchanged: got %q, version %q", got, version)
		}
		enlist(now.Add(2*time.Hour), "c", "a")
		if got, version := listed(t, l, first); got != "a b c" || version == first {
			t.Errorf("changed: got %q", got)
		}
		if err := l.Enlist(t.Context(), all(now.Add(3*time.Hour), "d"), now.Add(90*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got, _ := listed(t, l, first); got != "a c d" { // b was over
			t.Errorf("later: got %q", got)
		}
	})
}

// A list that was lost has another version, whatever was put on it since.
func TestLostListHasAnotherVersion(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, now := connect(t, e, nil), time.Now()
		l := NewList(r, "l", 24*time.Hour)
		if err := l.Enlist(t.Context(), all(now.Add(time.Hour), "a"), now); err != nil {
			t.Fatal(err)
		}
		_, first := listed(t, l, "")
		if err := r.client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		found, version, err := l.Listed(t.Context(), first)
		if err != nil || found == nil || len(found) != 0 || version != "" {
			t.Errorf("got %v, version %q, %v", found, version, err)
		}
	})
}
