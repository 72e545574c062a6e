package rest

import (
	"encoding/json"
	"net/url"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{`{}`, `{"input":{"a":1},"userContext":{"username":"x"}}`, `{"a":1,"userContext":null}`, `{"input":1}`, `[]`, `null`, `{"input":{},"b":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if strictjson.Check(body) != nil {
			return // the gate lets nothing else through
		}
		input, _, err := unwrap(body)
		if err != nil {
			return
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(input, &fields); err != nil || fields == nil {
			t.Fatalf("got input %q of %q, want an object: %v", input, body, err)
		}
		if err := strictjson.Check(input); err != nil {
			t.Fatalf("got input %q of %q, want it as strict as the body: %v", input, body, err)
		}
	})
}

func TestQueryNumbersAreRead(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"limit":{"type":"integer"},"amount":{"type":"number"}}}`)
	for query, want := range map[string]string{
		"limit=2": `{"limit":2}`, "limit=2.0": `{"limit":2.0}`, "limit=2e0": `{"limit":2e0}`, "amount=-1.5": `{"amount":-1.5}`,
		"limit=two": `{"limit":"two"}`, "limit=1e999999": `{"limit":"1e999999"}`, "limit=[]": `{"limit":"[]"}`, "limit=": `{"limit":""}`,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := inputOf(values, schema); err != nil || string(got) != want {
			t.Errorf("%s: got %s (%v), want %s", query, got, err, want)
		}
	}
}

// TestQueryTextsAreKept: digits are a number only where no text is declared, and only if
// they are the number's own form.
func TestQueryTextsAreKept(t *testing.T) {
	for _, c := range []struct{ property, query, want string }{
		{`{"type":["string","null"]}`, "code=007", `{"code":"007"}`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, "code=7", `{"code":"7"}`},
		{`{"oneOf":[{"type":"null"},{"type":"string"}]}`, "code=true", `{"code":"true"}`},
		{`{"anyOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"type":"null"}]}`, "code=7", `{"code":"7"}`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, "code=-7", `{"code":-7}`},
		{`{"type":["boolean","null"]}`, "code=true", `{"code":true}`},
		{`{"type":["boolean","null"]}`, "code=1", `{"code":"1"}`},
		{`{"type":["array","null"],"items":{"type":"string"}}`, "code=7", `{"code":["7"]}`},
		{`{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}`, "code=-7&code=8", `{"code":[-7,8]}`},
		{`{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}`, "code=7", `{"code":"7"}`},
		{`{"type":"array"}`, "code=7", `{"code":[7]}`},
		{`{}`, "code=7", `{"code":7}`},
		{`true`, "code=007", `{"code":"007"}`},
		{`{}`, "code=-0", `{"code":"-0"}`},
	} {
		query, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		schema := json.RawMessage(`{"properties":{"code":` + c.property + `}}`)
		if got, err := inputOf(query, schema); err != nil || string(got) != c.want {
			t.Errorf("%s of %s: got %s (%v), want %s", c.query, c.property, got, err, c.want)
		}
	}
}

func TestQueryThatIsNoTextIsRejected(t *testing.T) {
	if _, err := inputOf(url.Values{"name": {"a\xff"}}, nil); !fault.Is(err, fault.BadRequest) {
		t.Errorf("got %v, want BAD_REQUEST", err)
	}
}

func FuzzInputOf(f *testing.F) {
	for _, q := range []string{"a=1", "a=007&b=x", "text=5&text=6", "text=7", "flag=true&n=1e5", "n=NaN", "a.b=9007199254740993", "%00=1", "a=%ff"} {
		f.Add(q)
	}
	schema := json.RawMessage(`{"properties":{"text":{"type":"string"},"flag":{"type":"boolean"},"n":{"type":"number"},"list":{"type":"array"}}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := url.ParseQuery(raw)
		if err != nil {
			t.Skip()
		}
		input, err := inputOf(query, schema)
		if err != nil {
			if fault.From(err).Kind() != fault.Invalid {
				t.Fatalf("got %v, want a fault of the caller", err)
			}
			return
		}
		var fields map[string]any
		if err := json.Unmarshal(input, &fields); err != nil || len(fields) != len(query) {
			t.Fatalf("got %s of %q (%v), want a field per name", input, raw, err)
		}
		if text, ok := fields["text"]; ok && len(query["text"]) == 1 {
			if _, isText := text.(string); !isText {
				t.Fatalf("got %v, want the text that the schema says", text)
			}
		}
	})
}
