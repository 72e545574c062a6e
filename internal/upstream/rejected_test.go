package upstream_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream"
)

// reject makes the server answer every call with an HTTP status in place of a result.
func (n *notes) reject(status int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.garbage = func(w http.ResponseWriter, _ string) bool {
		http.Error(w, "no", status)
		return true
	}
}

// TestApprovedChangeThatItsServerDeclinesFailsWithAReceipt: too many requests or too much
// input mean that nothing was run. Asked again, the answer is the same.
func TestApprovedChangeThatItsServerDeclinesFailsWithAReceipt(t *testing.T) {
	for status, code := range map[int]*fault.Code{http.StatusTooManyRequests: fault.TooManyRequests, http.StatusRequestEntityTooLarge: fault.ValidationError} {
		bothVersions(t, func(t *testing.T, v version) {
			n := newNotes(t, v)
			u := host(t, upstream.Options{}, n)
			id := u.Call(writer, "notes.create", nil).Pending().ID
			n.reject(status)
			o := u.Answer(writer, id, true, "")
			if f := o.Fault(); !fault.Is(f, code) || f.Details["server"] != "notes" || !strings.Contains(f.Message, "The call was not run.") {
				t.Errorf("%d: got %s, want %s that says that nothing was run", status, result.EncodeEnvelope(o), code.Name)
			}
			first := string(result.EncodeEnvelope(o))
			for _, approved := range []bool{true, false} {
				if again := string(result.EncodeEnvelope(u.Answer(writer, id, approved, ""))); again != first {
					t.Errorf("%d: asked again: got %s, want %s", status, again, first)
				}
			}
			if shown, err := u.Confirmation(writer, id); err != nil || shown.State != "failed" || len(n.received()) != 1 {
				t.Errorf("%d: got the state %s (%v) after %v", status, shown.State, err, n.received())
			}
		})
	}
}

// TestChangeThatItsServerRejectsForAnotherReasonIsUnknown: another status says nothing of
// what was done before it.
func TestChangeThatItsServerRejectsForAnotherReasonIsUnknown(t *testing.T) {
	n := newNotes(t, modern)
	u := host(t, upstream.Options{}, n)
	id := u.Call(writer, "notes.create", nil).Pending().ID
	n.reject(http.StatusConflict)
	for range 2 {
		if o := u.Answer(writer, id, true, ""); o.Code() != "OUTCOME_UNKNOWN" {
			t.Errorf("got %s, want OUTCOME_UNKNOWN", result.EncodeEnvelope(o))
		}
	}
}

// cutOnce makes the server end the stream of the next call before its answer.
func (n *notes) cutOnce(aborted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	cut := true
	n.garbage = func(w http.ResponseWriter, _ string) bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		if !cut {
			return false
		}
		cut = false
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		if _ = http.NewResponseController(w).Flush(); aborted {
			panic(http.ErrAbortHandler)
		}
		return true
	}
}

// TestStreamThatEndsBeforeItsAnswerIsALostAnswer: a read is repeated, and of a change it is
// unknown whether it was made. It is no bad answer, which an administrator would have to look into.
func TestStreamThatEndsBeforeItsAnswerIsALostAnswer(t *testing.T) {
	for _, aborted := range []bool{true, false} {
		bothVersions(t, func(t *testing.T, v version) {
			n := newNotes(t, v)
			u := host(t, upstream.Options{}, n)
			id := u.Call(writer, "notes.create", nil).Pending().ID
			n.cutOnce(aborted)
			if o := u.Call(writer, "notes.search", nil); o.Fault() != nil || len(n.received()) != 2 {
				t.Errorf("aborted %v: got %s after %v, want an answer to the second call", aborted, result.EncodeEnvelope(o), n.received())
			}
			n.cutOnce(aborted)
			if o := u.Answer(writer, id, true, ""); o.Code() != "OUTCOME_UNKNOWN" || len(n.received()) != 3 {
				t.Errorf("aborted %v: a change: got %s after %v", aborted, o.Code(), n.received())
			}
		})
	}
}
