package approval_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/result"
)

// replies is a service that always answers the same.
type replies struct {
	rest.Toolbox
	outcome result.Outcome
}

func (r replies) Call(context.Context, string, json.RawMessage) result.Outcome { return r.outcome }

func throughPage(t *testing.T, wire string) string {
	t.Helper()
	o, err := result.DecodeEnvelope(json.RawMessage(wire))
	if err != nil {
		t.Fatal(err)
	}
	s := approval.At("https://gateway.test").Toolbox(replies{outcome: o})
	return string(result.EncodeEnvelope(s.Call(t.Context(), "any", nil)))
}

func TestWaitingChangeLeadsToItsPage(t *testing.T) {
	const wire = `{"status":"pending_confirmation","message":"<b>?","confirmationId":"x1","confirmationData":{"amount":12345678901234567890,"rate":1.10}}`
	const want = `{"status":"pending_confirmation","message":"\u003cb\u003e?","confirmationId":"x1","confirmationData":{"amount":12345678901234567890,"approvalUrl":"https://gateway.test/#/approve/x1","rate":1.10}}`
	if got := throughPage(t, wire); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const bare = `{"status":"pending_confirmation","message":"?","confirmationId":"x1"}`
	if got := throughPage(t, bare); !strings.Contains(got, `"confirmationData":{"approvalUrl":"https://gateway.test/#/approve/x1"}`) {
		t.Errorf("without data: got %s", got)
	}
}

func TestOtherAnswersStayByteForByte(t *testing.T) {
	for _, wire := range []string{
		`{ "status":"success", "data":{"message":"Frank Davis has been deleted.","confirmationId":"x1"} }`,
		`{"message":"No.","status":"error","code":"CONFIRMATION_STALE"}`,
	} {
		if got := throughPage(t, wire); got != wire {
			t.Errorf("got %s, want %s", got, wire)
		}
	}
}

func TestServersOwnDataIsNotTouched(t *testing.T) {
	data := map[string]any{"employeeName": "Frank Davis"}
	s := approval.At("https://gateway.test").Toolbox(replies{outcome: result.Waiting(result.Pending{ID: "x1", Data: data})})
	o := s.Call(t.Context(), "any", nil)
	if o.Pending().Data["approvalUrl"] != "https://gateway.test/#/approve/x1" {
		t.Errorf("got %v", o.Pending().Data)
	}
	if diff := cmp.Diff(map[string]any{"employeeName": "Frank Davis"}, data); diff != "" {
		t.Errorf("the server's data (-want +got):\n%s", diff)
	}
}

// TestPendingAnswerSaysWhereToApprove: a model or a script that reads the answer can send
// its person to the page. The gateway draws a card of its own and gets the bare sentence.
func TestPendingAnswerSaysWhereToApprove(t *testing.T) {
	for _, c := range []struct {
		purpose access.Purpose
		left    time.Duration
		want    string
	}{
		{access.PurposeNone, 5 * time.Minute, "Delete the desk?\n\nNothing has changed yet. Open https://gateway.test/#/approve/c1 to approve or deny this, within 5 minutes."},
		{access.PurposeNone, 40 * time.Second, "Delete the desk?\n\nNothing has changed yet. Open https://gateway.test/#/approve/c1 to approve or deny this, within 1 minute."},
		{access.PurposeCall, 5 * time.Minute, "Delete the desk?"},
	} {
		waiting := result.Waiting(result.Pending{ID: "c1", Message: "Delete the desk?", Expires: time.Now().Add(c.left)})
		ctx := access.With(t.Context(), access.NewPrincipal(access.Claims{Purpose: c.purpose}))
		p := approval.At("https://gateway.test").Toolbox(replies{outcome: waiting}).Call(ctx, "any", nil).Pending()
		if p.Message != c.want || p.Data["approvalUrl"] != "https://gateway.test/#/approve/c1" {
			t.Errorf("%v: got %q, %v, want %q", c.purpose, p.Message, p.Data, c.want)
		}
	}
}

// FuzzWaitingEnvelope: whatever a server writes, the data that a person reads
// keeps its values, and the message its words.
func FuzzWaitingEnvelope(f *testing.F) {
	f.Add(`{"status":"pending_confirmation","message":"m","confirmationId":"i","confirmationData":{"a":1e999,"b":[{}],"c":null}}`)
	f.Add(`{"status":"pending_confirmation","confirmationData":{"approvalUrl":"https://evil.test"}}`)
	f.Add(`{"status":"pending_confirmation","confirmationData":null}`)
	f.Fuzz(func(t *testing.T, wire string) {
		o, err := result.DecodeEnvelope(json.RawMessage(wire))
		if err != nil || o.Pending() == nil {
			return
		}
		s := approval.At("https://gateway.test").Toolbox(replies{outcome: o})
		after, err := result.DecodeEnvelope(result.EncodeEnvelope(s.Call(context.Background(), "any", nil)))
		if err != nil || after.Pending() == nil {
			t.Fatalf("%q is no waiting change any more: %v", wire, err)
		}
		want := map[string]any{"approvalUrl": "https://gateway.test/#/approve/" + url.PathEscape(o.Pending().ID)}
		for key, value := range o.Pending().Data {
			if key != "approvalUrl" {
				want[key] = value
			}
		}
		if diff := cmp.Diff(want, after.Pending().Data); diff != "" || after.Pending().Message != o.Pending().Message || after.Pending().ID != o.Pending().ID {
			t.Errorf("%q became %+v\n%s", wire, after.Pending(), diff)
		}
	})
}
