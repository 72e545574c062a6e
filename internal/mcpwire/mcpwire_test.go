package mcpwire_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/strictjson"
)

const (
	meta   = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	legacy = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_thing","arguments":{"a":1}}}`
	modern = `{"jsonrpc":"2.0","id":"x-1","method":"tools/call","params":{"name":"get_thing","arguments":{"a":1},` + meta + `}}`
)

func TestCallIsRead(t *testing.T) {
	for message, want := range map[string]mcpwire.Call{
		legacy: {ID: []byte("1"), Tool: "get_thing", Args: []byte(`{"a":1}`)},
		modern: {ID: []byte(`"x-1"`), Tool: "get_thing", Args: []byte(`{"a":1}`), Modern: true},
		" { \"params\" :\n{ \"name\": \"x\" } , \"method\":\"tools/call\", \"id\": -7 ,\"jsonrpc\":\"2.0\" } ":                    {ID: []byte("-7"), Tool: "x", Args: []byte("{}")},
		strings.Replace(modern, `"_meta":{`, `"_meta":{"traceparent":"00-a","vendor":[{"deep":"}"}],`, 1):                         {ID: []byte(`"x-1"`), Tool: "get_thing", Args: []byte(`{"a":1}`), Modern: true, Trace: "00-a"},
		strings.Replace(modern, `Capabilities":{}`, `Capabilities":{"elicitation":{"form":{}}}`, 1):                               {ID: []byte(`"x-1"`), Tool: "get_thing", Args: []byte(`{"a":1}`), Modern: true},
		strings.Replace(modern, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"\u0041","version":"1"},`, 1): {ID: []byte(`"x-1"`), Tool: "get_thing", Args: []byte(`{"a":1}`), Modern: true},
	} {
		got, ok := mcpwire.ReadCall([]byte(message), "")
		if !ok || string(got.ID) != string(want.ID) || got.Tool != want.Tool || string(got.Args) != string(want.Args) || got.Modern != want.Modern || got.Trace != want.Trace {
			t.Errorf("%s:\ngot  %v %q %q %s\nwant %q %s", message, ok, got.ID, got.Tool, got.Args, want.Tool, want.Args)
		}
	}
}

// TestOtherMessagesAreNotUnderstood: each is left to the SDK, which answers or
// rejects it.
func TestOtherMessagesAreNotUnderstood(t *testing.T) {
	for _, message := range []string{
		``, `[]`, `{}`, `"tools/call"`, `[` + legacy + `]`,
		strings.Replace(legacy, `"2.0"`, `"1.0"`, 1),
		strings.Replace(legacy, `"id":1,`, ``, 1),
		strings.Replace(legacy, `"id":1`, `"id":1.5`, 1),
		strings.Replace(legacy, `"id":1`, `"id":1e2`, 1),
		strings.Replace(legacy, `"id":1`, `"id":null`, 1),
		strings.Replace(legacy, `"id":1`, `"id":1234567890123456`, 1),
		strings.Replace(legacy, `"id":1`, `"id":"\u0041"`, 1),
		strings.Replace(legacy, `"id":1`, `"id":"`+strings.Repeat("x", 200)+`"`, 1),
		strings.Replace(legacy, `tools/call`, `tools/list`, 1),
		strings.Replace(legacy, `tools/call`, `tools\/call`, 1),
		strings.Replace(legacy, `"method"`, `"Method"`, 1),
		strings.Replace(legacy, `"jsonrpc"`, `"extra":1,"jsonrpc"`, 1),
		strings.Replace(legacy, `"name":"get_thing"`, `"name":"get\u005fthing"`, 1),
		strings.Replace(legacy, `"name":"get_thing"`, `"n\u0061me":"get_thing"`, 1),
		strings.Replace(legacy, `"name":"get_thing"`, `"name":7`, 1),
		strings.Replace(legacy, `"name":"get_thing",`, ``, 1),
		strings.Replace(legacy, `"name":"get_thing"`, `"name":"get_thing","Name":"other"`, 1),
		strings.Replace(legacy, `{"a":1}`, `[1]`, 1),
		strings.Replace(legacy, `{"a":1}`, `null`, 1),
		strings.Replace(legacy, `"arguments"`, `"requestState":"s","arguments"`, 1),
		strings.Replace(modern, `"_meta":{`, `"_meta":{"progressToken":1,`, 1),
		strings.Replace(modern, `"_meta":{`, `"_meta":{"progress\u0054oken":1,`, 1),
		strings.Replace(modern, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"info",`, 1),
		strings.Replace(modern, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":1},`, 1),
		strings.Replace(modern, `2026-07-28`, `2099-01-01`, 1),
		strings.Replace(modern, `,"io.modelcontextprotocol/clientCapabilities":{}`, ``, 1),
		strings.Replace(modern, `Capabilities":{}`, `Capabilities":{"roots":7}`, 1),
		strings.Replace(modern, `Capabilities":{}`, `Capabilities":null`, 1),
		strings.TrimSuffix(legacy, `}`), strings.TrimSuffix(legacy, `"a":1}}}`),
	} {
		if got, ok := mcpwire.ReadCall([]byte(message), ""); ok {
			t.Errorf("%s: got %q with %s", message, got.Tool, got.Args)
		}
	}
}

// FuzzReadCall: what is understood of strict JSON is what encoding/json reads.
func FuzzReadCall(f *testing.F) {
	f.Add([]byte(legacy))
	f.Add([]byte(modern))
	f.Add([]byte(strings.Replace(modern, `"_meta":{`, `"_meta":{"traceparent":"00-a","v":["\"}",{}],`, 1)))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, ok := mcpwire.ReadCall(message, "get_thing")
		if !ok || strictjson.Check(message) != nil {
			return
		}
		var want struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
				Meta map[string]any  `json:"_meta"`
			} `json:"params"`
		}
		if err := json.Unmarshal(message, &want); err != nil {
			t.Fatalf("%s is understood, and encoding/json refuses it: %v", message, err)
		}
		if want.Params.Args == nil {
			want.Params.Args = json.RawMessage("{}")
		}
		version, _ := want.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
		if want.Version != "2.0" || want.Method != "tools/call" || !bytes.Equal(got.ID, want.ID) || got.Tool != want.Params.Name ||
			!bytes.Equal(got.Args, want.Params.Args) || got.Modern != (version == mcpwire.ModernVersion) {
			t.Errorf("%s: got %+v, want %+v", message, got, want)
		}
	})
}

// quote writes a text without escapes for HTML.
func quote(t *testing.T, text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSpace(b.String()))
}

// wireResult is the SDK's shape of a result.
type wireResult struct {
	Meta       json.RawMessage `json:"_meta,omitempty"`
	ResultType string          `json:"resultType,omitempty"`
	Content    []wireText      `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError,omitempty"`
}

type wireText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// FuzzAppendResult: the bytes are those of encoding/json, for any text in the data.
func FuzzAppendResult(f *testing.F) {
	for _, text := range []string{"", "a", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<b>&amp;</b>", "\u2028\u2029\u2027", "ö€😀"} {
		f.Add(text, true, false)
	}
	f.Fuzz(func(t *testing.T, text string, modern, failed bool) {
		data := []byte(`{"text":` + quote(t, text) + `}`)
		c := mcpwire.Call{ID: []byte("3"), Modern: modern}
		want := wireResult{Structured: data, Content: []wireText{{"text", string(data)}}, IsError: failed}
		about := json.RawMessage(`{"name":"x"}`)
		if modern {
			want.Meta, want.ResultType = json.RawMessage(`{"io.modelcontextprotocol/serverInfo":`+string(about)+`}`), "complete"
		}
		var encoded bytes.Buffer
		e := json.NewEncoder(&encoded)
		e.SetEscapeHTML(false)
		if err := e.Encode(want); err != nil {
			t.Fatal(err)
		}
		expected := `{"jsonrpc":"2.0","id":3,"result":` + strings.TrimSpace(encoded.String()) + `}`
		got := mcpwire.AppendResult(nil, c, mcpwire.Result{Structured: data, IsError: failed}, about)
		if string(got) != expected {
			t.Errorf("got  %s\nwant %s", got, expected)
		}
		read, err := mcpwire.ReadAnswer(got, 3)
		if err != nil || read.IsError != failed || !bytes.Equal(read.Structured, data) {
			t.Errorf("read back: %s, want %s (%v)", read.Structured, data, err)
		}
	})
}

func TestWrittenCallIsRead(t *testing.T) {
	message := mcpwire.AppendCall(nil, 12, "get_thing", []byte(`{"a":"b"}`), []byte(`{"name":"x","version":"1"}`))
	got, ok := mcpwire.ReadCall(message, "get_thing")
	if !ok || string(got.ID) != "12" || got.Tool != "get_thing" || string(got.Args) != `{"a":"b"}` || !got.Modern {
		t.Errorf("%s: got %v %+v", message, ok, got)
	}
}

func TestAnswerIsRead(t *testing.T) {
	done := `{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","content":[],"structuredContent":{"status":"success"}}}`
	if a, err := mcpwire.ReadAnswer([]byte(done), 5); err != nil || string(a.Structured) != `{"status":"success"}` || a.IsError || a.Code != 0 {
		t.Errorf("got %+v (%v)", a, err)
	}
	failed := `{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"no such \"tool\""}}`
	if a, err := mcpwire.ReadAnswer([]byte(failed), 5); err != nil || a.Code != -32602 || a.Message != `no such "tool"` {
		t.Errorf("got %+v (%v)", a, err)
	}
	if a, err := mcpwire.ReadAnswer([]byte(strings.Replace(failed, `"id":5`, `"id":null`, 1)), 5); err != nil || a.Code != -32602 {
		t.Errorf("to a call that could not be read: got %+v (%v)", a, err)
	}
	for _, bad := range []string{
		``, `{}`, `[]`, `null`, done[:len(done)-2], done[:len(done)-1],
		strings.Replace(done, `"id":5`, `"id":6`, 1),
		strings.Replace(done, `"id":5`, `"id":"5"`, 1),
		strings.Replace(done, `"complete"`, `"input_required"`, 1),
		strings.Replace(done, `{"status":"success"}`, `[1]`, 1),
		strings.Replace(done, `structuredContent`, `other`, 1),
		strings.Replace(done, `"structuredContent"`, `"is\u0045rror":true,"structuredContent"`, 1),
		strings.Replace(failed, `-32602`, `"x"`, 1),
		strings.Replace(failed, `"id":5`, `"id":6`, 1),
		strings.Replace(failed, `"id":5`, `"id":"5"`, 1),
		strings.Replace(done, `"result"`, `"error":{"code":1},"result"`, 1),
	} {
		if a, err := mcpwire.ReadAnswer([]byte(bad), 5); err == nil {
			t.Errorf("%s: got %+v, want an error", bad, a)
		}
	}
}

// FuzzReadAnswer: no answer of a server makes the reader fail, and one that is read is what
// encoding/json reads.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","structuredContent":{"a":"}\""}}}`))
	f.Add([]byte(`{"id":5,"error":{"code":1,"message":"x"}}`))
	f.Add([]byte(`{"id":5,"result":{"structuredContent":{"a":[[1,2]]},"isError":true`))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, err := mcpwire.ReadAnswer(message, 5)
		mcpwire.InStream(message)
		if err != nil || strictjson.Check(message) != nil || got.Code != 0 {
			return
		}
		var want struct {
			ID     int64
			Result struct {
				Structured json.RawMessage `json:"structuredContent"`
				IsError    any             `json:"isError"`
			}
		}
		if err := json.Unmarshal(message, &want); err != nil {
			return // a member that is not read has another type
		}
		if strings.Contains(strings.ToLower(string(message)), `"id"`) && want.ID == 5 && !bytes.Equal(got.Structured, want.Result.Structured) && json.Valid(got.Structured) && !caseTwins(message) {
			t.Errorf("%s: got %s, want %s", message, got.Structured, want.Result.Structured)
		}
	})
}

// caseTwins reports whether a name occurs in two spellings, which encoding/json
// takes for the same.
func caseTwins(message []byte) bool {
	lower := strings.ToLower(string(message))
	for _, name := range []string{"id", "result", "structuredcontent"} {
		if strings.Count(lower, strconv.Quote(name)) > 1 {
			return true
		}
	}
	return false
}

func TestAnswerInAStream(t *testing.T) {
	stream := "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n: ping\n\nid: 1\ndata: {\"id\":5,\"result\":{}}\n\n"
	if got := mcpwire.InStream([]byte(stream)); string(got) != `{"id":5,"result":{}}` {
		t.Errorf("got %s", got)
	}
	if got := mcpwire.InStream([]byte("data: {\"method\":\"x\"}\n\n")); got != nil {
		t.Errorf("got %s, want none", got)
	}
}

// BenchmarkAppendResult asks what it costs to write an answer of a page of rows with
// its text copy, against copying the page twice.
func BenchmarkAppendResult(b *testing.B) {
	row := `{"employee_id":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c","name":"Marcus Johnson","title":"Senior Engineer","department":"Engineering","salary":"*** (Hidden)","level":5}`
	page := []byte(`{"status":"success","data":[` + strings.Repeat(row+",", 49) + row + `]}`)
	dst := make([]byte, 0, 3*len(page))
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = append(append(dst[:0], page...), page...)
		}
	})
	b.Run("answer", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = mcpwire.AppendResult(dst[:0], mcpwire.Call{ID: []byte("1")}, mcpwire.Result{Structured: page}, nil)
		}
	})
}
