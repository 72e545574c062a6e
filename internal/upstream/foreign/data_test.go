package foreign

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/result"
	"countersign.dev/internal/tokens"
)

func texts(all ...string) (content []mcp.Content) {
	for _, t := range all {
		content = append(content, &mcp.TextContent{Text: t})
	}
	return content
}

// wrapped is a result as the host passes it on.
func wrapped(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	s := &Server{o: Options{Name: "notes"}}
	return string(result.EncodeEnvelope(s.wrap(r)))
}

func TestAnswersOfEveryKindAreDescribed(t *testing.T) {
	got := wrapped(t, &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: "one"}, &mcp.TextContent{Text: "two"},
		&mcp.ImageContent{MIMEType: "image/png", Data: []byte("1234")},
		&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("12345")},
		&mcp.ResourceLink{URI: "file:///a", Name: "a", MIMEType: "text/plain"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b", MIMEType: "text/plain", Text: "three"}},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///c", MIMEType: "image/gif", Blob: []byte("12")}},
		&mcp.EmbeddedResource{},
	}})
	want := `{"status":"success","data":{"text":"one\ntwo\nthree\n","parts":[{"type":"image","mimeType":"image/png","bytes":4},{"type":"audio","mimeType":"audio/wav","bytes":5},` +
		`{"type":"resource_link","mimeType":"text/plain","uri":"file:///a","name":"a"},{"type":"resource","mimeType":"text/plain","uri":"file:///b"},{"type":"resource","mimeType":"image/gif","bytes":2,"uri":"file:///c"}]}}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestListsOfObjectsAreRows: a list, or an object around one, is drawn as a table.
func TestListsOfObjectsAreRows(t *testing.T) {
	rows := `"data":[{"id":1},{"id":2}],"metadata":{"hasMore":false,"returnedCount":2,"totalEstimate":"2","truncated":false,"totalCount":"2"}}`
	list := []any{map[string]any{"id": 1.0}, map[string]any{"id": 2.0}}
	for name, c := range map[string]struct {
		structured any
		want       string
	}{
		"a list":             {list, rows},
		"an object around":   {map[string]any{"result": list}, rows},
		"two lists":          {map[string]any{"a": list, "b": list}, `"data":{"a":[{"id":1},{"id":2}],"b":[{"id":1},{"id":2}]}}`},
		"a list of numbers":  {map[string]any{"result": []any{1.0}}, `"data":{"result":[1]}}`},
		"a mixed list":       {map[string]any{"result": append(list, 7.0)}, `"data":{"result":[{"id":1},{"id":2},7]}}`},
		"things by name":     {map[string]any{"issues": list}, rows},
		"of a plain word":    {map[string]any{"people": list}, rows},
		"what failed":        {map[string]any{"failed_to_delete": list}, `"data":{"failed_to_delete":[{"id":1},{"id":2}]}}`},
		"errors":             {map[string]any{"errors": []any{}}, `"data":{"errors":[]}}`},
		"an object":          {map[string]any{"id": 1.0}, `"data":{"id":1}}`},
		"an object of null":  {map[string]any{"result": nil}, `"data":{"result":null}}`},
		"a list without any": {map[string]any{"result": []any{}}, `"data":[],"metadata":{"hasMore":false,"returnedCount":0,"totalEstimate":"0","truncated":false,"totalCount":"0"}}`},
	} {
		if got := wrapped(t, &mcp.CallToolResult{StructuredContent: c.structured}); got != `{"status":"success",`+c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestTextCopyIsTakenOnlyWhenItSaysTheSame: it keeps the spelling of numbers, and
// must not replace what is structured.
func TestTextCopyIsTakenOnlyWhenItSaysTheSame(t *testing.T) {
	structured := map[string]any{"id": 1e19}
	for text, want := range map[string]string{
		`{"id": 10000000000000000001}`:       `{"id": 10000000000000000001}}`,
		`{"id":5}`:                           `{"id":10000000000000000000},` + inexactlyAndMore,
		`10000000000000000001`:               `{"id":10000000000000000000},` + inexactly,
		`{"id":5,"id":10000000000000000000}`: `{"id":10000000000000000000},` + inexactlyAndMore,
		``:                                   `{"id":10000000000000000000},` + inexactly,
	} {
		got := wrapped(t, &mcp.CallToolResult{StructuredContent: structured, Content: texts(text)})
		if got != `{"status":"success","data":`+want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// inexactly ends the answer of one object with numbers whose digits are not all known,
// and inexactlyAndMore that of one with a text that says something else.
const (
	inexactly        = `"metadata":{"hasMore":false,"returnedCount":1,"totalEstimate":"1","hint":"` + longNumbers + `","truncated":false,"totalCount":"1"}}`
	inexactlyAndMore = `"metadata":{"hasMore":false,"returnedCount":1,"totalEstimate":"1","hint":"` + longNumbers + ` ` + besideData + `","truncated":false,"totalCount":"1"}}`
)

// TestWhatIsBesideStructuredContentIsRemarkedOn: a warning or a picture, and not the copy that the
// specification asks for, in whatever pieces.
func TestWhatIsBesideStructuredContentIsRemarkedOn(t *testing.T) {
	list := []any{map[string]any{"id": 1.0}, map[string]any{"id": 2.0}}
	for name, c := range map[string]struct {
		structured any
		content    []mcp.Content
		more       bool
	}{
		"a warning":           {map[string]any{"deleted": 2.0}, texts("3 of 5 were skipped"), true},
		"a picture":           {map[string]any{"chart": "sales"}, []mcp.Content{&mcp.ImageContent{}}, true},
		"a copy":              {map[string]any{"deleted": 2.0}, texts(`{ "deleted": 2 }`), false},
		"a copy and more":     {map[string]any{"deleted": 2.0}, texts(`{"deleted":2}`, "beware"), true},
		"the one member":      {map[string]any{"result": "done"}, texts("done"), false},
		"each item":           {map[string]any{"result": list}, texts(`{"id":1}`, `{"id":2}`), false},
		"each item of a list": {list, texts(`{"id":1}`, `{"id":2}`), false},
		"one item too many":   {list, texts(`{"id":1}`, `{"id":2}`, `{"id":3}`), true},
		"a blank text":        {list, texts(" \n"), false},
		"no content":          {list, nil, false},
	} {
		if got := wrapped(t, &mcp.CallToolResult{StructuredContent: c.structured, Content: c.content}); strings.Contains(got, besideData) != c.more {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// TestStructuredErrorIsItsMessage where there is no other.
func TestStructuredErrorIsItsMessage(t *testing.T) {
	r := &mcp.CallToolResult{IsError: true, StructuredContent: map[string]any{"reason": "order 7 was charged, not shipped"}}
	if got := wrapped(t, r); !strings.Contains(got, "charged, not shipped") {
		t.Errorf("got %s", got)
	}
	r.Content = texts("no stock")
	if got := wrapped(t, r); !strings.Contains(got, `"message":"no stock"`) {
		t.Errorf("with a message: got %s", got)
	}
}

// TestNoRowIsLostWithoutANotice: at the very bounds, and where one row alone is too large.
func TestNoRowIsLostWithoutANotice(t *testing.T) {
	for _, size := range []int{maxData - 11, maxData - 10, maxData - 9, maxData - 8, maxData, 2 * maxData} {
		rows := []any{map[string]any{"t": strings.Repeat(" ", size)}, map[string]any{"t": "x"}}
		o := (&Server{}).wrap(&mcp.CallToolResult{StructuredContent: rows})
		if p := o.Page(); p == nil || !p.More || !strings.Contains(p.Hint, "of 2 rows of the answer") {
			t.Errorf("%d: got %.100s, %+v", size, o.Data(), p)
		}
	}
}

// TestNumbersThatMayHaveLostDigitsAreRemarkedOn in data of any shape, and no others.
func TestNumbersThatMayHaveLostDigitsAreRemarkedOn(t *testing.T) {
	for structured, inexact := range map[string]bool{
		`{"id":9007199254740993}`: true, `{"id":-1234567890123456789}`: true, `[{"id":1},{"id":9007199254740993}]`: true,
		`{"a":{"b":[1,[9007199254740993]]}}`: true, `9007199254740993`: true, `{"id":9007199254740993,"text":"` + strings.Repeat("z ", maxData) + `"}`: true,
		`{"id":9007199254740991}`: false, `{"id":"9007199254740993"}`: false, `{"a":0.30000000000000004,"b":123456789.123456789}`: false, `[]`: false,
	} {
		r := &mcp.CallToolResult{Content: texts("found")}
		if err := json.Unmarshal([]byte(structured), &r.StructuredContent); err != nil {
			t.Fatal(err)
		}
		if got := wrapped(t, r); strings.Contains(got, longNumbers) != inexact {
			t.Errorf("%.80s: got %.300s", structured, got)
		}
	}
}

// TestLargeAnswersAreClippedWithANotice in bytes and in tokens, whatever their
// shape.
func TestLargeAnswersAreClippedWithANotice(t *testing.T) {
	row := map[string]any{"note": strings.Repeat("word ", 200)}
	var many []any
	for range 2000 {
		many = append(many, row)
	}
	for name, r := range map[string]*mcp.CallToolResult{
		"bytes of text":  {Content: texts(strings.Repeat("a", maxData+1))},
		"tokens of text": {Content: texts(strings.Repeat("é漢 ", maxTokens))},
		"rows":           {StructuredContent: many},
		"one row":        {StructuredContent: []any{map[string]any{"note": strings.Repeat("z ", maxData)}}},
		"an object":      {StructuredContent: map[string]any{"note": strings.Repeat("z ", maxData), "n": 1.0}},
	} {
		o := (&Server{}).wrap(r)
		if o.Fault() != nil || o.Page() == nil || !o.Page().More || !strings.Contains(o.Page().Hint, "Only the first ") {
			t.Errorf("%s: got %.200s, want a notice", name, result.EncodeEnvelope(o))
			continue
		}
		if data := o.Data(); len(data) > 2*maxData || new(tokens.Counter).Count(string(data)) > 2*maxTokens || len(data) < 1000 || !json.Valid(data) {
			t.Errorf("%s: got %d bytes", name, len(data))
		}
	}
	parts := make([]mcp.Content, maxParts+7)
	for i := range parts {
		parts[i] = &mcp.ImageContent{}
	}
	if o := (&Server{}).wrap(&mcp.CallToolResult{Content: parts}); o.Page() == nil || o.Page().Hint != "7 more parts of the answer are left out." {
		t.Errorf("parts: got %+v", o.Page())
	}
}

// FuzzWrap: whatever a server answers is valid JSON within the bounds.
func FuzzWrap(f *testing.F) {
	f.Add("text", `{"a":[{"b":1}]}`)
	f.Add(`{"a":1}`, `{"a":1}`)
	f.Add("", `[{"a":1},{}]`)
	f.Add("\xff\xfe", `null`)
	f.Fuzz(func(t *testing.T, text, structured string) {
		r := &mcp.CallToolResult{Content: texts(text)}
		_ = json.Unmarshal([]byte(structured), &r.StructuredContent)
		o := (&Server{}).wrap(r)
		if o.Fault() == nil && (!json.Valid(o.Data()) || len(o.Data()) > 7*maxData) {
			t.Fatalf("got %.300s", o.Data())
		}
	})
}
