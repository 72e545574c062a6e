package admission_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
)

// oneMay is how many requests one person may have open who is alone.
const oneMay = 120

// unread is a client that reads nothing: what is written to it waits for its end.
type unread struct {
	*httptest.ResponseRecorder
	closed chan struct{}
}

func (u unread) Write(b []byte) (int, error) {
	<-u.closed
	return len(b), nil
}

// crowd are requests that stay open until end is called.
type crowd struct {
	t       *testing.T
	handler http.Handler
	closed  chan struct{}
	all     sync.WaitGroup
	mu      sync.Mutex
	made    map[string]int // answers that were made, by person
	refused map[string]int
}

// newCrowd is of a queue whose handler makes an answer after it has read the body.
func newCrowd(t *testing.T, q *admission.Queue) *crowd {
	c := &crowd{t: t, closed: make(chan struct{}), made: map[string]int{}, refused: map[string]int{}}
	c.handler = q.Bracket(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get("Name")
		if err := admission.From(r.Context()).For(owner(name)).Open(); err != nil {
			if !fault.Is(err, fault.TooManyRequests) || fault.From(err).RetryAfter == 0 {
				t.Errorf("got %v, want RATE_LIMITED with a time", err)
			}
			c.count(c.refused, name)
			return
		}
		_, _ = io.ReadAll(r.Body)
		c.count(c.made, name)
		_, _ = w.Write([]byte("answer"))
	}))
	return c
}

func (c *crowd) count(of map[string]int, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of[name]++
}

// send sends requests of a person with such a body, and returns when all of them wait
// or have ended.
func (c *crowd) send(n int, name string, body func() io.Reader) {
	for range n {
		r := httptest.NewRequestWithContext(c.t.Context(), "POST", "/", body())
		r.Header.Set("Name", name)
		c.all.Go(func() { c.handler.ServeHTTP(unread{httptest.NewRecorder(), c.closed}, r) })
	}
	synctest.Wait()
}

func (c *crowd) end() {
	close(c.closed)
	c.all.Wait()
}

func none() io.Reader { return http.NoBody }

func TestUnreadAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counted atomic.Int64
		c := newCrowd(t, admission.New(admission.Options{Refused: func(limit string) {
			if limit == "open_requests" {
				counted.Add(1)
			}
		}}))
		c.send(500, "alice", none)
		c.send(3, "bob", none)
		if c.made["alice"] != oneMay || c.refused["alice"] != 500-oneMay || counted.Load() != 500-oneMay || c.made["bob"] != 3 {
			t.Errorf("made %v, refused %v, want %d answers of alice's and all of bob's", c.made, c.refused, oneMay)
		}
		c.end()
		c.closed = make(chan struct{})
		c.send(1, "alice", none)
		if c.made["alice"] != oneMay+1 {
			t.Error("a request was refused after the others had ended")
		}
		c.end()
	})
}

func TestUnsentBodiesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, admission.New(admission.Options{}))
		silent, sender := io.Pipe()
		c.send(500, "alice", func() io.Reader { return struct{ io.Reader }{silent} })
		if c.refused["alice"] != 500-oneMay {
			t.Errorf("refused %v, want %d before their bodies were read", c.refused, 500-oneMay)
		}
		_ = sender.Close()
		c.end()
	})
}

func TestOpenRequestsOfAllPeopleAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, admission.New(admission.Options{}))
		made := func() (all int) {
			for _, n := range c.made {
				all += n
			}
			return all
		}
		for i := range 30 {
			c.send(150, string(rune('A'+i)), none)
		}
		c.send(10, "bob", none)
		if c.made["bob"] != 10 {
			t.Errorf("got %d requests of 10 beside 30 people who have all that they may, and %d of theirs", c.made["bob"], made())
		}
		for i := range 4000 {
			c.send(1, string(rune(1000+i)), none)
		}
		if all := made(); all > 2048 || all < 2000 {
			t.Errorf("got %d open requests, want at most 2,048, and not far less", all)
		}
		c.end()
	})
}

func TestStreamIsNoOpenRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{})
		for range 2 * oneMay {
			w := q.Work().For(owner("alice"))
			if err := w.Open(); err != nil {
				t.Fatal(err)
			}
			w.Streams()
		}
	})
}

// The first page has the answers of requests that are made for it.
func TestAnswersInAnAnswerAreHeldWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{})
		api := newCrowd(t, q)
		close(api.closed) // the page reads them at once
		c := newCrowd(t, q)
		c.handler = q.Bracket(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 6 {
				api.handler.ServeHTTP(httptest.NewRecorder(), r)
			}
			_, _ = w.Write([]byte("page"))
		}))
		c.send(100, "alice", none)
		if api.made["alice"] != oneMay {
			t.Errorf("got %d answers in pages that no one reads, want %d", api.made["alice"], oneMay)
		}
		c.end()
		api.send(1, "alice", none)
		if api.made["alice"] != oneMay+1 {
			t.Error("a request was refused after the pages had ended")
		}
		api.all.Wait()
	})
}

func TestOpenRequestThatFailsLeavesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{})
		broken := q.Bracket(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if err := admission.From(r.Context()).For(owner("alice")).Open(); err != nil {
				t.Error(err)
			}
			panic("broken")
		}))
		for range 3000 { // more than all may have open
			func() {
				defer func() { _ = recover() }()
				broken.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
			}()
		}
	})
}
