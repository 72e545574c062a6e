package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/oracle"
)

// oddValues are values that a reader, a schema or a store could stumble over,
// as JSON.
func oddValues() []string {
	numbers := []string{
		"-1", "0", "-0", "1.5", "2.0", "2e0", "0.2e1", "1e15", "1e30", "-1e30", "1e308", "1e-308", "4.9e-324", "1e309", "1e999999", "1e-999999",
		"9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "0.1234567890123456789",
		strings.Repeat("9", 900_000), "0." + strings.Repeat("1", 900_000), "1e" + strings.Repeat("9", 1000),
	}
	texts := []string{
		"", " ", "%", "_", `\\`, `\"`, "'", "''; --", `\u0000`, `a\u0000b`, `\ud800`, `\u202e`, `\u200b`, `\ufeff`, "\xff", "\x01", `\u0001`, "é́́́", "*", `\"a`, "a AND", "-", "(", "NEAR(",
		"0000-01-01", "0001-01-01", "0000-01", "0001-12", "9999-12-31", "2026-02-30", "-0001-01-01", "10000-01-01", "Q1 0000", "0000-Q1", "Q4 0001", "9999-Q4", "Q1 9999",
		"null", "NaN", "Infinity", "1e999999", "00000000-0000-0000-0000-000000000000", "000000000000000000000000",
		strings.Repeat("a", 501), strings.Repeat("a", 5000), strings.Repeat("(", 3000), strings.Repeat(`\\`, 1000), strings.Repeat("a ", 1900), strings.Repeat("ä", 300_000),
	}
	values := slices.Concat(numbers, []string{"null", "true", "[]", "{}", `[null]`, `{"":""}`, "[" + strings.Repeat("0,", 5000) + "0]", strings.Repeat("[", 60) + strings.Repeat("]", 60), strings.Repeat("[", 90) + strings.Repeat("]", 90)})
	for _, text := range texts {
		values = append(values, `"`+text+`"`)
	}
	return values
}

// oddValuesOnce gives the values for a field of that schema. Those that are as long as
// a request may be come once for each kind of field: the reader and the schema see
// them, and no store.
func oddValuesOnce() func(field any) []string {
	all := oddValues()
	short := slices.DeleteFunc(slices.Clone(all), func(value string) bool { return len(value) > 100_000 })
	seen := map[string]bool{}
	return func(field any) []string {
		rules, _ := field.(schema)
		rules = maps.Clone(rules)
		delete(rules, "description")
		kind := fmt.Sprint(rules)
		if seen[kind] {
			return short
		}
		seen[kind] = true
		return all
	}
}

// TestNoInputIsAnErrorOfTheServer sends odd values in every field of every tool,
// in an otherwise valid call, over REST and over MCP. None may be answered as if
// the server had failed.
func TestNoInputIsAnErrorOfTheServer(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newHarness(t)
	probes, odds := probesOf(w.company), oddValuesOnce()
	calls, tools := 0, map[string]bool{}
	for _, d := range domains() {
		edge := w.openEdge(t, d.name)
		for _, info := range w.runners[d.name].Visible(catalogue()) {
			fields, _ := parsed(t, info.InputSchema)["properties"].(schema)
			valid := probes[info.Name][0].in
			if info.Name == "get_expense_report" { // a month is read only together with an employee
				valid = map[string]any{"employee_id": noUUID, "month": "2026-03"}
			}
			for _, field := range append(slices.Sorted(maps.Keys(fields)), "no_such_field", `\u0000`) {
				for _, odd := range odds(fields[field]) {
					body := changed(t, valid, field, odd)
					for surface, a := range map[string]*httptest.ResponseRecorder{"REST": edge.rest(t, info.Name, body), "MCP": edge.mcp(t, info.Name, body)} {
						if calls++; a.Code == http.StatusOK {
							tools[info.Name+" over "+surface] = true
						}
						if problem := serverFault(a); problem != "" {
							t.Errorf("%s: %s %s=%.60s: %s: %d %.400s", surface, info.Name, field, odd, problem, a.Code, a.Body)
						}
					}
				}
			}
		}
	}
	if log := w.log.String(); len(log) > 0 {
		t.Errorf("the log has %d bytes: %.2000s", len(log), log)
	}
	t.Logf("%d calls of %d tools", calls, len(tools)/2)
}

// changed is a valid input with one field set to a value.
func changed(t *testing.T, valid map[string]any, field, value string) string {
	t.Helper()
	rest := maps.Clone(valid)
	delete(rest, field)
	encoded, err := json.Marshal(rest)
	if err != nil {
		t.Fatal(err)
	}
	comma := ","
	if len(rest) == 0 {
		comma = ""
	}
	return fmt.Sprintf(`{"%s":%s%s%s`, field, value, comma, encoded[1:])
}

// serverFault says what makes an answer one of a server that failed.
func serverFault(a *httptest.ResponseRecorder) string {
	switch {
	case a.Code >= 500:
		return "a status of the server"
	case strings.Contains(a.Body.String(), "DATABASE_ERROR"), strings.Contains(a.Body.String(), "INTERNAL_ERROR"), strings.Contains(a.Body.String(), "OPERATION_FAILED"), strings.Contains(a.Body.String(), "TIMEOUT"), strings.Contains(a.Body.String(), "-32603"):
		return "a code of the server"
	case strings.Contains(a.Body.String(), "Go struct"), strings.Contains(a.Body.String(), "unmarshal"):
		return "a name of the program"
	case a.Body.Len() > 4000 && strings.Contains(a.Body.String(), `"error"`): // over MCP an envelope is there twice, once escaped
		return "a long error"
	}
	return ""
}

// openEdge serves a domain's tools to one person with every role.
func (w *harness) openEdge(t *testing.T, server string) edgeUnderTest {
	t.Helper()
	who := oracle.Asker{Email: "alice@tamshai.local", Roles: roleNames()}.Principal()
	s, err := mcpserver.New(service{w.runners[server]}, mcpserver.Options{
		Name: server, Verify: func(context.Context, string) (*access.Principal, error) { return who, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return edgeUnderTest{s.Handler()}
}

type edgeUnderTest struct{ handler http.Handler }

func (e edgeUnderTest) rest(t *testing.T, tool, body string) *httptest.ResponseRecorder {
	return e.post(t, "/tools/"+tool, `{"input":`+body+`}`)
}

func (e edgeUnderTest) mcp(t *testing.T, tool, body string) *httptest.ResponseRecorder {
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + body +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	return e.post(t, "/mcp", message, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

func (e edgeUnderTest) post(t *testing.T, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Host = "localhost:1"
	r.Header.Set("Authorization", "Bearer x")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a := httptest.NewRecorder()
	e.handler.ServeHTTP(a, r)
	return a
}
