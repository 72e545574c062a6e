package result

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzForwardedSuccess: an envelope that is read as spans is the outcome that
// encoding/json reads.
func FuzzForwardedSuccess(f *testing.F) {
	for _, text := range []string{
		`{"status":"success","data":{"a":1}}`, ` {"data":[1,{"x":"\u0041"}] , "status":"success"} `,
		`{"status":"success","data":[1],"metadata":{"hasMore":true,"returnedCount":1,"nextCursor":"c","hint":"h","totalEstimate":"50+","truncated":true}}`,
		`{"status":"success","data":null}`, `{"status":"success"}`, `{"status":"success","data":1,"metadata":null}`,
		`{"status":"success","data":1,"data":2}`, `{"status":"success","Data":1}`, `{"status":"success","data":1,"STATUS":"error"}`,
		`{"status":"success","data":1,"code":"X"}`, `{"st\u0061tus":"success","data":1}`, `{"status":"succ\u0065ss","data":1}`,
		`{"status":"success","data":1}x`, `{"status":"success","data":{"a":1,"a":2}}`, `{"status":"success","data":1,"metadata":{"hasMore":"x"}}`,
		"{\"status\":\"success\",\"data\":\"\xff\"}", `{"status":"success","data":[1,}`, `{"status":"success","data":1`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := readSuccess(raw)
		if !ok {
			return
		}
		want, err := decodeEnvelope(raw)
		if err != nil {
			t.Fatalf("%q is read as %s, and encoding/json refuses it: %v", raw, got.Data(), err)
		}
		if got.Code() != want.Code() || string(got.Data()) != string(want.Data()) || got.Rows() != want.Rows() || cmp.Diff(want.Page(), got.Page()) != "" {
			t.Errorf("%q: got %s %s %+v, want %s %s %+v", raw, got.Code(), got.Data(), got.Page(), want.Code(), want.Data(), want.Page())
		}
	})
}

// TestSuccessIsForwarded: the data of a success is a span of the envelope, and what
// is not that of a plain success is decoded.
func TestSuccessIsForwarded(t *testing.T) {
	raw := json.RawMessage(`{"status":"success","data":[{"a":1}],"metadata":{"hasMore":true,"returnedCount":1,"truncated":true}}`)
	o, err := DecodeEnvelope(raw)
	if err != nil || &o.Data()[0] != &raw[len(`{"status":"success","data":`)] || !o.Page().More {
		t.Errorf("got %s (%v), want the bytes themselves", o.Data(), err)
	}
	for _, other := range []string{
		`{"status":"error","data":1}`, `{"status":"success"}`, `{"status":"success","data":1,"message":"m"}`,
		`{"status":"success","data":1,"data":2}`, `{"status":"success","Data":1}`, `{"status":"success","data":1} {}`, "{\"status\":\"success\",\"data\":\"\xff\"}",
	} {
		if o, ok := readSuccess(json.RawMessage(other)); ok {
			t.Errorf("%s is read as %s", other, o.Data())
		}
	}
}

// page is the envelope of a list.
func page(rows int) json.RawMessage {
	row := `{"employee_id":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c","name":"Marcus Johnson","title":"Senior Engineer","department":"Engineering","salary":"*** (Hidden)","manager":{"id":"e-2","name":"Nina Patel"},"active":true,"level":5},`
	return json.RawMessage(fmt.Sprintf(`{"status":"success","data":[%s],"metadata":{"hasMore":true,"returnedCount":%d,"truncated":true}}`, strings.TrimSuffix(strings.Repeat(row, rows), ","), rows))
}

// BenchmarkDecodeEnvelope asks what it costs to know what an answer of a server is
// before its bytes are passed on, against decoding its envelope.
func BenchmarkDecodeEnvelope(b *testing.B) {
	for _, rows := range []int{1, 50} {
		raw := page(rows)
		for name, decode := range map[string]func(json.RawMessage) (Outcome, error){"decoded": decodeEnvelope, "forwarded": DecodeEnvelope} {
			b.Run(fmt.Sprintf("%d/%s", rows, name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(raw)))
				for b.Loop() {
					if o, err := decode(raw); err != nil || o.Rows() != rows {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
