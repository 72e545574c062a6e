package result_test

import (
	"encoding/json"
	"errors"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// TestEnvelopeShapes checks the wire shapes of documents 000 and 003.
func TestEnvelopeShapes(t *testing.T) {
	for name, c := range map[string]struct {
		outcome result.Outcome
		want    string
	}{
		"data": {result.Success(json.RawMessage(`{"a":1}`), nil, ""), `{"status":"success","data":{"a":1}}`},
		"whole list": {
			result.Success(json.RawMessage(`[1,2]`), &result.Page{Limit: 50, Returned: 2, Noun: "employees"}, ""),
			`{"status":"success","data":[1,2],"metadata":{"hasMore":false,"returnedCount":2,"totalEstimate":"2","truncated":false,"totalCount":"2"}}`,
		},
		"part of a list": {
			result.Success(json.RawMessage(`[1]`), &result.Page{Limit: 50, Returned: 50, More: true, Next: "c", Noun: "employees", Narrow: "department or name"}, ""),
			`{"status":"success","data":[1],"metadata":{"hasMore":true,"returnedCount":50,"nextCursor":"c","totalEstimate":"50+",` +
				`"hint":"Showing 50 of 50+ employees. Results are incomplete. Narrow by department or name.","truncated":true,"totalCount":"50+",` +
				`"warning":"Showing 50 of 50+ employees. Results are incomplete. Narrow by department or name."}}`,
		},
		"last page of several": {
			result.Success(json.RawMessage(`[1]`), &result.Page{Limit: 50, Returned: 9, Later: true, Noun: "employees"}, ""),
			`{"status":"success","data":[1],"metadata":{"hasMore":false,"returnedCount":9,"hint":"9 more employees, the last ones.","truncated":false}}`,
		},
		"last page of several that were counted": {
			result.Success(json.RawMessage(`[1]`), &result.Page{Limit: 50, Returned: 9, Before: 50, Later: true, Noun: "employees"}, ""),
			`{"status":"success","data":[1],"metadata":{"hasMore":false,"returnedCount":9,"totalEstimate":"59","hint":"9 more employees, the last ones of 59.","truncated":false,"totalCount":"59"}}`,
		},
		"page between others": {
			result.Success(json.RawMessage(`[1]`), &result.Page{Limit: 20, Returned: 20, Before: 20, More: true, Next: "c", Later: true, Noun: "employees"}, ""),
			`{"status":"success","data":[1],"metadata":{"hasMore":true,"returnedCount":20,"nextCursor":"c","totalEstimate":"40+",` +
				`"hint":"Showing 20 more employees. Results are incomplete.","truncated":true,"totalCount":"40+","warning":"Showing 20 more employees. Results are incomplete."}}`,
		},
		"error": {
			result.Failed(fault.InvalidInput.New("No.").Suggest("Do.").With("k", "v")),
			`{"status":"error","code":"INVALID_INPUT","message":"No.","suggestedAction":"Do.","details":{"k":"v"}}`,
		},
		"pending": {
			result.Waiting(result.Pending{ID: "id", Message: "Delete?", Data: map[string]any{"action": "x"}}),
			`{"status":"pending_confirmation","message":"Delete?","confirmationId":"id","confirmationData":{"action":"x"}}`,
		},
		"denied":    {result.Cancelled("No."), `{"status":"cancelled","message":"No."}`},
		"passed on": {result.Cancelled("No.").WithRaw(json.RawMessage(`{"status":"cancelled"}`)), `{"status":"cancelled"}`},
	} {
		if got := string(result.EncodeEnvelope(c.outcome)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

func TestEnvelopesPassThroughUnchanged(t *testing.T) {
	for _, raw := range []string{
		`{"status":"success","data":{"message":"Done."}}`,
		`{ "status":"error", "code":"EMPLOYEE_NOT_FOUND", "message":"m", "suggestedAction":"s" }`,
		`{"status":"pending_confirmation","confirmationId":"i","message":"m","confirmationData":{"z":1,"a":2}}`,
	} {
		o, err := result.DecodeEnvelope(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(result.EncodeEnvelope(o)); got != raw {
			t.Errorf("got %s, want %s", got, raw)
		}
	}
}

func TestDecodedEnvelopeHasItsAlternative(t *testing.T) {
	o, err := result.DecodeEnvelope(json.RawMessage(`{"status":"success","data":{"message":"Done."}}`))
	if err != nil || o.Message() != "Done." || o.Code() != result.StatusSuccess {
		t.Errorf("got %+v, %v", o, err)
	}
	o, err = result.DecodeEnvelope(json.RawMessage(`{"status":"error","code":"CONFIRMATION_STALE","message":"m"}`))
	if err != nil || !errors.Is(o.Fault(), fault.ConfirmationStale.New("")) {
		t.Errorf("a shared code was not recognised: %+v, %v", o, err)
	}
	for code, want := range map[string]fault.Kind{"FILE_NOT_FOUND": fault.NotFound, "NOT_FOUND_HERE": fault.Invalid, "OTHER": fault.Invalid} {
		if o, err = result.DecodeEnvelope(json.RawMessage(`{"status":"error","code":"` + code + `","message":"m"}`)); err != nil || o.Fault().Kind() != want {
			t.Errorf("%s of another server: %+v, %v, want the kind %s", code, o, err, want)
		}
	}
	o, err = result.DecodeEnvelope(json.RawMessage(`{"status":"success","data":[],"metadata":{"hasMore":false,"returnedCount":0,"hint":"There are no more employees.","truncated":false}}`))
	if err != nil || !o.Page().Later || o.Page().Hint != "" {
		t.Errorf("a last page is decoded as %+v, %v", o.Page(), err)
	}
	o, err = result.DecodeEnvelope(json.RawMessage(`{"status":"success","data":[],"metadata":{"hasMore":false,"returnedCount":9,"totalEstimate":"59","hint":"9 more employees, the last ones of 59.","truncated":false}}`))
	if p := o.Page(); err != nil || !p.Later || p.Before != 50 || p.Remark != "" {
		t.Errorf("a last page of a known total is decoded as %+v, %v", p, err)
	}
	if _, err := result.DecodeEnvelope(json.RawMessage(`{"status":"odd"}`)); err == nil {
		t.Error("an unknown status was accepted")
	}
}

func FuzzDecodeEnvelope(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":[1]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if o, err := result.DecodeEnvelope(raw); err == nil && string(result.EncodeEnvelope(o)) != string(raw) {
			t.Errorf("%q did not pass unchanged", raw)
		}
	})
}

func TestCamel(t *testing.T) {
	for snake, want := range map[string]string{"employee_id": "employeeId", "a_b_c": "aBC", "limit": "limit", "q4_budget": "q4Budget"} {
		if got := result.Camel(snake); got != want {
			t.Errorf("%s: got %s, want %s", snake, got, want)
		}
	}
}
