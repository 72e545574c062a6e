package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

const truncated = "Showing 2 of 2+ employees. Results are incomplete."

// events is a turn with a list, both kinds of warnings and a waiting change.
var events = []string{
	`{"type":"start","conversationId":"c1","model":"m"}`,
	`{"type":"tool","state":"processing","tool":"list_employees","server":"hr","message":"…"}`,
	`{"type":"tool","state":"complete","tool":"list_employees","server":"hr","message":"…","data":{"status":"success","data":[` +
		`{"employee_id":"e1000000-0000-0000-0000-000000000060","first_name":"Ann","salary":155000,"change":-1.5,"manager_name":null,"created_at":"2017-07-10T00:00:00Z","nested":{"a":1}},` +
		`{"employee_id":"e1000000-0000-0000-0000-000000000061","first_name":"Bo\u001b[31mb` + strings.Repeat("x", 60) + `","salary":"*** (Hidden)","change":2,"manager_name":"Ann","created_at":"2017-07-10T00:00:00Z"}` +
		`],"metadata":{"hasMore":true,"returnedCount":2,"truncated":true,"hint":"` + truncated + `"}}}`,
	`{"type":"truncation","tool":"list_employees","hint":"` + truncated + `"}`,
	`{"type":"text","text":"Two people."}`,
	`{"type":"note","kind":"correction","text":"A correction."}`,
	`{"type":"service_unavailable","warnings":[{"server":"sales","code":"SERVICE_UNAVAILABLE","message":"The sales service cannot be reached."}]}`,
	`{"status":"pending_confirmation","confirmationId":"p1","message":"Delete Ann?","confirmationData":{}}`,
	`{"type":"stop"}`,
	`[DONE]`,
}

// gateway answers one question with the events, and each approval as told.
func gateway(t *testing.T, events []string, approval string) Options {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/query", func(w http.ResponseWriter, _ *http.Request) {
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	})
	mux.HandleFunc("POST /api/confirm/{id}", func(w http.ResponseWriter, r *http.Request) {
		// SHA-256 of {"confirmationData":{},"message":"Delete Ann?"}
		const want = `{"approved":true,"digest":"2df035e8b2005c59cb9195a3c51f0041ad3f05c9137ae2e48212230379398fa4"}`
		if body, _ := io.ReadAll(r.Body); strings.TrimSpace(string(body)) != want {
			t.Errorf("sent %s, want %s", body, want)
		}
		fmt.Fprint(w, approval)
	})
	mux.HandleFunc("GET /api/tools", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"tools":[{"name":"list_employees","server":"hr","fields":{"output":{
			"salary":{"label":"Pay","unit":"USD","amount":true},"change":{"unit":"percent","show":"change"},
			"created_at":{"show":"detail"},"manager_name":{"label":"Manager"}}}}]}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return Options{URL: s.URL, Token: "t", Err: io.Discard}
}

// A chat names its model, and goes on in its conversation.
func TestChatAsksTheNamedModel(t *testing.T) {
	t.Parallel()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(string(body)))
		fmt.Fprint(w, "data: {\"type\":\"start\",\"conversationId\":\"c1\",\"model\":\"small\"}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	o := Options{URL: s.URL, Token: "t", Model: "small", In: strings.NewReader("one\ntwo\n"), Out: io.Discard, Err: io.Discard}
	if err := Chat(t.Context(), o, ""); err != nil {
		t.Fatal(err)
	}
	want := []string{`{"model":"small","query":"one"}`, `{"conversationId":"c1","model":"small","query":"two"}`}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

func TestChatPrintsTheRowsOfAList(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := gateway(t, events, "")
	o.Out = &out
	if err := Chat(t.Context(), o, "List all employees"); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{
		"Two people.",
		"\nA correction.\n",
		"\nDelete Ann?\nWaiting for your approval: p1\n",
		"First name                            Pay           Change  Manager\n",
		"Ann                                   $155,000      -1.5%   –\n",
		"Bo[31mb" + strings.Repeat("x", 28) + "…  *** (Hidden)  +2%     Ann\n",
		"\nWarning: The sales service cannot be reached.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer does not contain %q:\n%s", want, got)
		}
	}
	if strings.Count(got, truncated) != 1 {
		t.Errorf("the truncation warning is not printed once:\n%s", got)
	}
}

func TestChatSaysThatATurnWasStopped(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := gateway(t, []string{events[0], `{"type":"text","text":"Two"}`, `{"type":"stop","reason":"cancelled"}`, `[DONE]`}, "")
	o.Out = &out
	if err := Chat(t.Context(), o, "List all employees"); err != nil || !strings.Contains(out.String(), "Two\nStopped. What you see may be incomplete.\n") {
		t.Errorf("%v:\n%s", err, &out)
	}
}

func TestChatDoesNotRepeatWarningsOfTheText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := gateway(t, append([]string{`{"type":"text","text":"Incomplete: ` + truncated + `"}`}, events...), "")
	o.Out = &out
	if err := Chat(t.Context(), o, "List all employees"); err != nil || strings.Count(out.String(), truncated) != 1 {
		t.Errorf("%v:\n%s", err, &out)
	}
}

func TestChatAsJSONPrintsTheEventsAlone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := gateway(t, events, "")
	o.Out, o.JSON = &out, true
	want := strings.Join(events[:len(events)-1], "\n") + "\n"
	if err := Chat(t.Context(), o, "List all employees"); err != nil || out.String() != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, &out, want)
	}
}

func TestChatAnswersAPendingChange(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"status":"success","data":{"success":true,"message":"Ann has been deleted."}}`:              "Ann has been deleted.",
		`{"status":"success","data":{"success":true}}`:                                                "The change was made.",
		`{"status":"cancelled","message":"Nothing was changed."}`:                                     "Nothing was changed.",
		`{"status":"error","code":"EMPLOYEE_HAS_REPORTS","message":"Ann has reports."}`:               "Ann has reports.",
		`{"status":"of a later version"}`:                                                             "unknown status",
		`{"status":"error","code":"X","message":"Not done.","data":{"message":"Ann has been hired"}}`: "Not done.",
	} {
		var out bytes.Buffer
		o := gateway(t, events, answer)
		o.In, o.Out, o.Err = strings.NewReader("Delete Ann\napprove\n"), &out, &out
		if err := Chat(t.Context(), o, ""); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "hired") {
			t.Errorf("%s: the answer does not contain %q:\n%s", answer, want, &out)
		}
	}
}

func TestTableKeepsWithinItsLimits(t *testing.T) {
	t.Parallel()
	var list []map[string]any
	for i := range maxRows + 3 {
		row := map[string]any{"zz_amount": 1000 + i, "a_year": 2026}
		for c := range maxColumns + 2 {
			row[fmt.Sprintf("column_%d", c)] = "v"
		}
		list = append(list, row)
	}
	data, _ := json.Marshal(list)
	var out bytes.Buffer
	fields := map[string]result.Field{"zz_amount": {Amount: true, Label: "Sum", Unit: "EUR"}, "a_year": {Show: result.ShowYear}}
	if err := printTable(&out, rowsOf(result.Success(data, nil, "")), fields); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 1+maxRows+3 || len(strings.Split(lines[0], "  ")) != maxColumns {
		t.Errorf("got %d lines, the first %q", len(lines), lines[0])
	}
	for _, want := range []string{"€1,000", "2026", "Only the first 50 of 53 rows are shown.", "More fields with --json: Column 6, Column 7, Column 8, Column 9."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not contain %q:\n%s", want, &out)
		}
	}
	if rowsOf(result.Success(json.RawMessage(`[{"a":1}]`), nil, "")) != nil {
		t.Error("one row makes a table")
	}
}

// FuzzStream reads any bytes as the stream of an answer. Only one that ends with
// [DONE] is whole.
func FuzzStream(f *testing.F) {
	f.Add([]byte("data: " + strings.Join(events, "\n\ndata: ") + "\n\n"))
	for _, body := range []string{
		"", ": heartbeat\n\n", "data: {}\n\ndata: [DONE]\n\n", "id: 1\nevent: x\ndata: [1]\n\n", "data: {\"type\":\"tool\",\"data\":{\"status\":\"success\",\"data\":[1,null,{}]}}\n\ndata: [DONE]",
		"data: {\"status\":\"pending_confirmation\",\"confirmationId\":\"p\",\"message\":\"\\u001b[2J\",\"confirmationData\":{\"a\":{\"b\":[{}]}}}\n\ndata: [DONE]\n", "data: " + strings.Repeat("[", 5000),
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, asJSON := range []bool{false, true} {
			var out bytes.Buffer
			o := Options{Out: &out, Err: io.Discard, JSON: asJSON}
			c := &conversation{Options: o}
			a := &answer{Options: o, fields: func(context.Context, string) map[string]result.Field { return nil }}
			err := c.print(t.Context(), a, bytes.NewReader(body))
			if err == nil && !bytes.Contains(body, []byte("data: [DONE]")) {
				t.Fatalf("%q is whole", body)
			}
		}
	})
}
