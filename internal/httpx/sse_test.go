package httpx_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/httpx"
)

// deadlined is a recorder that takes read deadlines.
type deadlined struct {
	*httptest.ResponseRecorder
	set    int
	lifted bool
}

func (d *deadlined) SetReadDeadline(t time.Time) error {
	if d.lifted = t.IsZero(); !d.lifted {
		d.set++
	}
	return nil
}

func TestStreamEncodesEvents(t *testing.T) {
	w := httptest.NewRecorder()
	s, err := httpx.NewStream(w, httptest.NewRequest("GET", "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []httpx.Event{{ID: "1", Data: []byte(`{"a":1}`)}, {Name: "x", Data: []byte("two\r\nlines")}} {
		if err := s.Send(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Send(httpx.Event{ID: "1\ndata: forged"}); err == nil {
		t.Error("got a line break in an id accepted")
	}
	s.Close()
	want := "id: 1\ndata: {\"a\":1}\n\nevent: x\ndata: two\ndata: lines\n\n"
	if w.Body.String() != want {
		t.Errorf("got %q, want %q", w.Body, want)
	}
	if w.Header().Get("X-Accel-Buffering") != "no" || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("got headers %v", w.Header())
	}
}

func TestStreamSendsHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		s, err := httpx.NewStream(w, httptest.NewRequest("GET", "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(46 * time.Second) // of the bubble's clock
		s.Close()
		if got := strings.Count(w.Body.String(), ": heartbeat\n\n"); got != 3 {
			t.Errorf("got %d heartbeats in 46 s, want 3", got)
		}
	})
}

func TestStreamEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		s, err := httpx.NewStream(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		<-s.Done()
		time.Sleep(time.Minute)
		if err := s.Send(httpx.Event{Data: []byte("late")}); !errors.Is(err, httpx.ErrDisconnected) {
			t.Errorf("got %v, want ErrDisconnected", err)
		}
		s.Close()
		if w.Body.Len() != 0 {
			t.Errorf("got %q after the client left, want nothing", w.Body)
		}
	})
}

// broken fails every write after the headers.
type broken struct{ *httptest.ResponseRecorder }

func (broken) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestFailedWriteEndsTheStream(t *testing.T) {
	s, err := httpx.NewStream(broken{httptest.NewRecorder()}, httptest.NewRequest("GET", "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send(httpx.Event{Data: []byte("x")}); !errors.Is(err, httpx.ErrDisconnected) {
		t.Errorf("got %v, want ErrDisconnected", err)
	}
	<-s.Done()
}

func TestConcurrentWritesAreNotMixed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := httpx.NewStream(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Close()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 50 {
					_ = s.Send(httpx.Event{Data: []byte("whole")})
				}
			})
		}
		all.Wait()
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, resp.Body); err != nil {
		t.Fatal(err)
	}
	if b.String() != strings.Repeat("data: whole\n\n", 1000) {
		t.Errorf("got %d bytes, some of them mixed", b.Len())
	}
}
