package result_test

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

func TestPeopleReadNoToolLanguage(t *testing.T) {
	unknown := &fault.Code{Name: "EMPLOYEE_NOT_FOUND", Instruct: "Use list_employees tool."}
	for _, row := range []struct {
		name string
		f    *fault.Error
		want string
	}{
		{"the same for all", fault.Busy.New("Not now.").Suggest("Wait."), `{"status":"error","code":"BUSY","message":"Not now.","suggestedAction":"Wait."}`},
		{"a tool to call", unknown.New("I find no employee.").With("employeeId", "x"), `{"code":"EMPLOYEE_NOT_FOUND","details":{"employeeId":"x"},"message":"I find no employee.","status":"error"}`},
		{"advice for both", unknown.New("I find no employee.").Suggest("Ask HR.").Instruct("Ask HR. Use list_employees."), `{"code":"EMPLOYEE_NOT_FOUND","message":"I find no employee.","status":"error","suggestedAction":"Ask HR."}`},
		{"inputs", fault.WrongInputs(fault.Input{Field: "employee_id", Wrong: "is not an id"}), `{"code":"VALIDATION_ERROR","message":"` + fault.Unfit + `","status":"error"}`},
		{
			"words for a model", fault.NotAskedFor.New("delete_employee was not called."),
			`{"code":"NOT_ASKED_FOR","message":"Something that was read asks for this, and you did not. It was not done.","status":"error","suggestedAction":"Ask for it in your own words if you want it."}`,
		},
	} {
		wire := result.EncodeEnvelope(result.Failed(row.f))
		if got := string(result.ForPeople(wire)); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
		o, err := result.DecodeEnvelope(wire) // as the gateway reads a server's answer
		if err != nil {
			t.Fatal(err)
		}
		message, advice := o.Fault().ForPeople()
		if wantMessage, wantAdvice := row.f.ForPeople(); message != wantMessage || advice != wantAdvice {
			t.Errorf("%s: after the wire: %q, %q", row.name, message, advice)
		}
	}
	for _, same := range []string{`{"status":"success", "data":{"people":{"message":"x"}}}`, `[1]`, ``} {
		if got := string(result.ForPeople(json.RawMessage(same))); got != same {
			t.Errorf("got %s, want %s", got, same)
		}
	}
}
