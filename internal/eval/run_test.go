package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/client"
)

// gateway answers questions with events by their text, and records what it was
// asked to do.
type gateway struct {
	*httptest.Server
	answers map[string][]string // events by question

	mu   sync.Mutex
	seen []string
}

func newGateway(t *testing.T, answers map[string][]string) *gateway {
	g := &gateway{answers: answers}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/query", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]string
		_ = json.NewDecoder(r.Body).Decode(&asked)
		g.saw("ask " + asked["model"] + " " + asked["query"] + asked["conversationId"])
		events, ok := g.answers[asked["query"]]
		if !ok {
			http.Error(w, `{"message":"There is no such question."}`, http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, "data: {\"type\":\"start\",\"conversationId\":\"c1\"}\n\n")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
	mux.HandleFunc("GET /api/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"other"},{"name":"first","default":true}]}`)
	})
	mux.HandleFunc("POST /api/confirm/{id}", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		g.saw("answer " + r.PathValue("id") + " " + string(body))
		http.Error(w, `{"message":"The token may not deny changes."}`, http.StatusForbidden)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		g.saw(r.Method + " " + r.URL.Path)
		fmt.Fprint(w, "{}")
	})
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) saw(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, what)
}

func (g *gateway) options(t *testing.T, questions string) (Options, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	set, err := parse("own.yaml", []byte(questions))
	if err != nil {
		t.Fatal(err)
	}
	var out, progress bytes.Buffer
	return Options{
		Client: client.Options{URL: g.URL, Token: "t"}, Sets: []Set{set}, Out: &out, Err: &progress,
		Now: func() time.Time { return time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC) },
	}, &out, &progress
}

const twoQuestions = `
- ask: budget of {year}?
  says: ["5"]
  then:
    - ask: delete it
      expect: change
      calls: [{tool: delete_it}]
- ask: weather?
  says: [rain]
`

var twoAnswers = map[string][]string{
	"budget of 2026?": {
		`{"type":"tool","state":"processing","tool":"sum","callId":"1","args":{"a":1}}`,
		`{"type":"tool","state":"complete","tool":"sum","callId":"1","data":{"status":"success","data":[5]}}`,
		`{"type":"text","text":"It is "}`, `{"type":"text","text":"5."}`, `{"type":"text","text":"Incomplete.","source":"gateway"}`,
		`{"type":"stop","usage":{"input_tokens":70,"output_tokens":3,"price":{"amount":0.0125,"currency":"USD"}}}`,
	},
	"delete it": {
		`{"type":"tool","state":"processing","tool":"delete_it","callId":"2","args":{}}`,
		`{"status":"pending_confirmation","confirmationId":"p1","message":"Delete it?","confirmationData":{}}`,
	},
	"weather?": {`{"type":"text","text":"Sun."}`, `{"type":"note","kind":"computed","text":"Calculated by the model and not checked: 7."}`},
}

func TestRunAsksJudgesAndCleansUp(t *testing.T) {
	t.Parallel()
	g := newGateway(t, twoAnswers)
	o, out, progress := g.options(t, twoQuestions)
	o.JSON = true
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want := []string{"ask first budget of 2026?", "ask first delete itc1", `answer p1 {"approved":false}`, "DELETE /api/conversations/c1", "ask first weather?", "DELETE /api/conversations/c1"}
	if !slices.Equal(g.seen, want) {
		t.Errorf("the gateway saw %q, want %q", g.seen, want)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("got %d lines:\n%s", len(lines), out)
	}
	var s Summary
	if err := json.Unmarshal([]byte(lines[3]), &s); err != nil {
		t.Fatal(err)
	}
	s.Seconds, s.Sets = 0, nil
	got, _ := json.Marshal(s)
	if want := `{"model":"first","questions":3,"right":2,"wrong":1,"declined":0,"honest":2,"tools":3,"args":3,"rows":3,"input_tokens":70,"output_tokens":3,"price":0.0125,"currency":"USD","seconds":0}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.Contains(progress.String(), "[3/3] first, wrong:  weather?") {
		t.Errorf("progress: %s", progress)
	}
}

// Each half of the questions has its row and its sums, so that tuning on one shows.
func TestEachSetIsCounted(t *testing.T) {
	t.Parallel()
	o, out, _ := newGateway(t, twoAnswers).options(t, twoQuestions)
	whole := o.Sets[0].Conversations
	o.Sets = []Set{{Name: "tuned", Conversations: whole[:1]}, {Name: "held_out", Conversations: whole[1:]}}
	for _, o.JSON = range []bool{false, true} {
		if err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`first +tuned +2  2 \(100%\) `, `first +held_out +1 +0 \(0%\) `, `first +all +3 +2 \(67%\) `, `"sets":\[\{"set":"tuned","questions":2,"right":2,.*\{"set":"held_out","questions":1,"right":0,"wrong":1,`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
}

func TestTableNamesWhatIsNotRight(t *testing.T) {
	t.Parallel()
	g := newGateway(t, twoAnswers)
	o, out, progress := g.options(t, twoQuestions)
	o.Models, o.Bar = []string{"first", "other"}, true
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first  all          3  2 (67%)", "other  all          3  2 (67%)", "0.0125 USD", `other, wrong:  "weather?": the answer does not say "rain"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	if bar := "\r[" + strings.Repeat("=", barWidth) + "] 6/6, 4 right, other\n"; !strings.HasSuffix(progress.String(), bar) {
		t.Errorf("the bar ends with %q, want %q", progress, bar)
	}
}

// A run that was ended in the middle, even of a line, goes on where it was.
// A follow-up may rest on rows of the turn before.
func TestFollowUpRestsOnEarlierRows(t *testing.T) {
	t.Parallel()
	o, out, _ := newGateway(t, twoAnswers).options(t, "- ask: budget of {year}?\n  says: [\"5\"]\n  then:\n    - ask: weather?\n      rows: [\"5\"]\n")
	o.JSON = true
	if err := Run(t.Context(), o); err != nil || !strings.Contains(out.String(), `"questions":2,"right":2,`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestRunGoesOnFromItsResults(t *testing.T) {
	t.Parallel()
	g := newGateway(t, map[string][]string{"budget of 2026?": twoAnswers["budget of 2026?"], "delete it": twoAnswers["delete it"]})
	o, _, _ := g.options(t, twoQuestions)
	o.Results = filepath.Join(t.TempDir(), "results.jsonl")
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no such question") {
		t.Fatalf("got %v", err)
	}
	f, err := os.OpenFile(o.Results, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"key":"cut o`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	g2 := newGateway(t, twoAnswers)
	again, out, _ := g2.options(t, twoQuestions)
	again.Results = o.Results
	for range 2 { // the second asks nothing
		out.Reset()
		if err := Run(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "first  all          3  2 (67%)") {
			t.Errorf("got %s", out)
		}
	}
	if want := []string{"ask first weather?", "DELETE /api/conversations/c1"}; !slices.Equal(g2.seen, want) {
		t.Errorf("the gateway saw %q, want %q", g2.seen, want)
	}

	other := again
	other.Models = []string{"other"}
	if err := Run(t.Context(), other); err != nil || !slices.Contains(g2.seen[2:], "ask other weather?") {
		t.Errorf("another model was not asked: %v, %q", err, g2.seen)
	}

	changed, _, _ := newGateway(t, nil).options(t, strings.ReplaceAll(twoQuestions, "rain", "snow"))
	changed.Results, changed.Client.URL = o.Results, g2.URL
	if err := Run(t.Context(), changed); err != nil || !slices.Contains(g2.seen[2:], "ask first weather?") {
		t.Errorf("a changed question was not asked again: %v, %q", err, g2.seen)
	}
	if err := os.WriteFile(o.Results, []byte("# notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), again); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a file of something else: %v", err)
	}
}

func TestRunGivesUpOnAModelThatFails(t *testing.T) {
	t.Parallel()
	answers, questions := map[string][]string{}, ""
	for i := range 10 {
		q := fmt.Sprintf("q%d", i)
		answers[q] = []string{`{"type":"error","error":"The key is not accepted.","code":"X"}`}
		questions += "- ask: " + q + "\n  says: [a]\n"
	}
	g := newGateway(t, answers)
	o, _, _ := g.options(t, questions)
	err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "3 answers in a row failed") || !strings.Contains(err.Error(), "The key is not accepted.") {
		t.Errorf("got %v", err)
	}
	if asked := len(g.seen); asked != 2*giveUpAfter {
		t.Errorf("%d requests, want %d", asked, 2*giveUpAfter)
	}
}

const threeQuestions = `
- ask: q1
  says: [fine]
- ask: q2
  says: [fine]
  then:
    - ask: refused
      says: [fine]
- ask: q3
  says: [fine]
`

// An error in the middle ends the questions of its model only, and what was
// answered before it is reported.
func TestErrorLeavesWhatWasAnswered(t *testing.T) {
	t.Parallel()
	fine := []string{`{"type":"text","text":"Fine."}`}
	for _, jsonLines := range []bool{false, true} {
		g := newGateway(t, map[string][]string{"q1": fine, "q2": fine, "q3": fine})
		o, out, progress := g.options(t, threeQuestions)
		o.Models, o.Bar, o.JSON = []string{"first", "other"}, true, jsonLines
		err := Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), "first: ") || !strings.Contains(err.Error(), "other: ") || !strings.Contains(err.Error(), "no such question") {
			t.Errorf("got %v", err)
		}
		if !strings.HasSuffix(progress.String(), "\n") {
			t.Errorf("the bar's line does not end: %q", progress)
		}
		for _, model := range []string{"first", "other"} {
			want := model + "  all          2  2 (100%)"
			if jsonLines {
				want = `{"model":"` + model + `","questions":2,"right":2,`
			}
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in:\n%s", want, out)
			}
		}
	}
}

// Without an answer there is nothing to report.
func TestErrorAtOnceReportsNothing(t *testing.T) {
	t.Parallel()
	o, out, _ := newGateway(t, nil).options(t, threeQuestions)
	if err := Run(t.Context(), o); err == nil || out.Len() > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// A model is not given up for the failures of the one before it.
func TestFailuresAreCountedByModel(t *testing.T) {
	t.Parallel()
	failing := []string{`{"type":"error","error":"It failed.","code":"X"}`}
	g := newGateway(t, map[string][]string{"q1": failing, "q2": failing})
	o, out, _ := g.options(t, "- ask: q1\n  says: [a]\n- ask: q2\n  says: [a]\n")
	o.Models = []string{"first", "other"}
	if err := Run(t.Context(), o); err != nil || !strings.Contains(out.String(), "other  all          2  0 (0%)") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A model that is given up does not keep the next from being asked.
func TestNextModelIsAskedAfterOneIsGivenUp(t *testing.T) {
	t.Parallel()
	answers, questions := map[string][]string{}, ""
	for i := range giveUpAfter + 1 {
		q := fmt.Sprintf("q%d", i)
		answers[q] = []string{`{"type":"error","error":"It failed.","code":"X"}`}
		questions += "- ask: " + q + "\n  says: [a]\n"
	}
	g := newGateway(t, answers)
	o, out, _ := g.options(t, questions)
	o.Models = []string{"first", "other"}
	err := Run(t.Context(), o)
	if err == nil || strings.Count(err.Error(), "3 answers in a row failed") != 2 || !slices.Contains(g.seen, "ask other q2") {
		t.Errorf("got %v, seen %q:\n%s", err, g.seen, out)
	}
}

// An interrupted run reports what it has and asks no other model.
func TestInterruptedRunReportsWhatItHas(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	g := newGateway(t, twoAnswers)
	o, out, _ := g.options(t, twoQuestions)
	o.Models, o.Err = []string{"first", "other"}, writerFunc(func(line string) {
		if strings.HasPrefix(line, "[2/6]") {
			stop(stopped)
		}
	})
	if err := Run(ctx, o); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(out.String(), "first  all          2  2 (100%)") || strings.Contains(out.String(), "other") {
		t.Errorf("got %s", out)
	}
}

// writerFunc gets what is written.
type writerFunc func(text string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}
