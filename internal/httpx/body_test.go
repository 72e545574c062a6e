package httpx_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

type answer struct {
	ConfirmationID string `json:"confirmationId"`
	Approved       *bool  `json:"approved"`
}

func post(body string, headers ...string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestBodyIsReadStrictly(t *testing.T) {
	deep := strings.Repeat(`{"confirmationId":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct {
		name string
		r    *http.Request
		want *fault.Code
	}{
		{"good", post(`{"confirmationId":"c","approved":true}`), nil},
		{"good with charset", post(`{"confirmationId":"c"}`, "Content-Type", "application/json; charset=UTF-8"), nil},
		{"half", post(`{"confirmationId":"c`), fault.BadRequest},
		{"empty", post(``), fault.BadRequest},
		{"array", post(`[{}]`), fault.BadRequest},
		{"trailing", post(`{} {}`), fault.BadRequest},
		{"repeated key", post(`{"approved":false,"approved":true}`), fault.BadRequest},
		{"repeated key, escaped", post(`{"approved":false,"\u0061pproved":true}`), fault.BadRequest},
		{"other spelling", post(`{"approved":false,"Approved":true}`), fault.BadRequest},
		{"unknown field", post(`{"approve":true}`), fault.BadRequest},
		{"wrong type", post(`{"approved":"yes"}`), fault.BadRequest},
		{"deep", post(deep), fault.BadRequest},
		{"bad UTF-8", post("{\"confirmationId\":\"\xff\"}"), fault.BadRequest},
		{"text", post(`{}`, "Content-Type", "text/plain"), fault.UnsupportedMedia},
		{"no type", post(`{}`, "Content-Type", ""), fault.UnsupportedMedia},
		{"latin1", post(`{}`, "Content-Type", "application/json; charset=latin1"), fault.UnsupportedMedia},
		{"gzip", post(`{}`, "Content-Encoding", "gzip"), fault.UnsupportedMedia},
		{"large", post(`{"confirmationId":"` + strings.Repeat("x", 1<<20) + `"}`), fault.BodyTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := httpx.Decode[answer](httptest.NewRecorder(), c.r, httpx.MaxBody)
			if c.want == nil && err != nil || c.want != nil && !fault.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestLimitHoldsForABodyOfUnknownLength(t *testing.T) {
	refused := make(chan error, 1)
	s := httptest.NewServer(plain(io.Discard).Handle(func(w http.ResponseWriter, r *http.Request) error {
		_, err := httpx.ReadObject(w, r, 1000)
		refused <- err
		return err
	}))
	defer s.Close()
	chunked := io.MultiReader(strings.NewReader(`{"a":"`), bytes.NewReader(bytes.Repeat([]byte("x"), 10<<20)))
	if resp, err := http.Post(s.URL, "application/json", chunked); err == nil { // a client still writing may see a reset instead
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d, want 413", resp.StatusCode)
		}
	}
	if err := <-refused; !fault.Is(err, fault.BodyTooLarge) {
		t.Errorf("got %v, want BODY_TOO_LARGE", err)
	}
}

func TestSlowHeadersAndBodiesAreBounded(t *testing.T) {
	s := httpx.NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if s.ReadHeaderTimeout == 0 || s.IdleTimeout == 0 || s.WriteTimeout == 0 || s.ReadTimeout != 0 {
		t.Errorf("got %v %v %v %v, want limits on headers, idling and answers, and none that cuts streams", s.ReadHeaderTimeout, s.IdleTimeout, s.WriteTimeout, s.ReadTimeout)
	}
	deadlines := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	r := post(`{}`)
	s.Handler.ServeHTTP(deadlines, r)
	if deadlines.set != 1 {
		t.Fatalf("got %d read deadlines, want one for the body", deadlines.set)
	}
	_, _ = io.ReadAll(r.Body)
	if !deadlines.lifted {
		t.Error("got the deadline still set, want it lifted once the body is there")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"confirmationId":"c","approved":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := httpx.Decode[answer](httptest.NewRecorder(), post(string(b)), 1000)
		if err != nil {
			if e := fault.From(err); e.Kind() != fault.Invalid {
				t.Fatalf("got %v, want a fault of the caller", err)
			}
			return
		}
		var want answer
		if err := json.Unmarshal(b, &want); err != nil || want.ConfirmationID != got.ConfirmationID {
			t.Fatalf("got %+v of %q, want what encoding/json reads: %v", got, b, err)
		}
	})
}
