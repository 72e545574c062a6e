package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/breaker"
	"countersign.dev/internal/upstream/mcpsession"
)

// scripted is an own server's adapter whose calls end as the tests say.
type scripted struct{ call, answer func() error }

func (scripted) Tools(context.Context) ([]result.ToolInfo, error) { return nil, nil }
func (a scripted) Call(context.Context, string, json.RawMessage) (result.Outcome, error) {
	return result.Success(nil, nil, ""), a.call()
}

func (a scripted) Answer(context.Context, string, bool, string) (result.Outcome, error) {
	return result.Success(nil, nil, ""), a.answer()
}
func (scripted) Confirmation(context.Context, string) (c result.Confirmation, err error) { return }
func (scripted) Close()                                                                  {}

// ownServer is an own server with a hand-set clock, and a function that calls
// one of its tools.
func ownServer(t *testing.T, a *scripted) (s *server, now *time.Time, call func() error) {
	now = new(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	u := New(nil, Options{Now: func() time.Time { return *now }})
	t.Cleanup(u.Close)
	s = &server{Server: Server{Name: "hr", Timeout: time.Minute, WriteTimeout: time.Minute}, up: u, adapter: a, answers: a, breaker: breaker.New(breaker.Own), meter: &meter{}}
	return s, now, func() error {
		_, err := s.call(t.Context(), route{server: s, tool: result.ToolInfo{Name: "get_thing", Kind: result.Read}, breaker: s.breaker}, nil)
		return err
	}
}

func TestErrorOfTheHostIsNoSignalOfTheServer(t *testing.T) {
	for _, cause := range []error{mcpsession.ErrBusy, mcpsession.ErrHost} {
		t.Run(cause.Error(), func(t *testing.T) {
			err := errors.New("connection refused")
			s, now, call := ownServer(t, &scripted{call: func() error { return err }})
			for range breaker.Failures - 1 {
				_ = call()
			}
			err = errors.Join(mcpsession.ErrNotSent, cause)
			for range breaker.Failures {
				_ = call()
			}
			if !s.breaker.Closed() {
				t.Fatal("it counted as a fault of the server")
			}
			err = errors.New("connection refused")
			if _ = call(); s.breaker.Closed() {
				t.Fatal("it cleared the faults of the server")
			}
			*now = now.Add(breaker.Own.Pause)
			err = errors.Join(mcpsession.ErrNotSent, cause)
			if _ = call(); s.breaker.Closed() {
				t.Error("it closed the breaker")
			}
			err = nil
			if got := call(); got != nil || !s.breaker.Closed() {
				t.Errorf("the next probe: got %v, want it sent", got)
			}
		})
	}
}

func TestAnswerOfAPersonIsNotTheProbe(t *testing.T) {
	err := errors.New("connection refused")
	probing, end := make(chan struct{}), make(chan struct{})
	a := &scripted{call: func() error { return err }, answer: func() error { return context.Canceled }}
	s, now, call := ownServer(t, a)
	for range breaker.Failures {
		_ = call()
	}
	*now = now.Add(breaker.Own.Pause)
	sent := 0
	a.call = func() error {
		if sent++; sent == 1 {
			close(probing)
			<-end
		}
		return nil
	}
	ended := make(chan error)
	go func() { ended <- call() }()
	<-probing
	left, leave := context.WithCancel(t.Context())
	leave()
	s.answer(left, "id", true, "")
	if got := call(); !errors.Is(got, errOpen) {
		t.Errorf("during the probe: got %v, want the call rejected", got)
	}
	close(end)
	if got := <-ended; got != nil || !s.breaker.Closed() {
		t.Errorf("after the probe: got %v, want the breaker closed", got)
	}
}

// TestPanicEndsTheProbe: its caller gets an error, and the next probe is sent.
func TestPanicEndsTheProbe(t *testing.T) {
	a := &scripted{call: func() error { return errors.New("connection refused") }}
	s, now, call := ownServer(t, a)
	for range breaker.Failures {
		_ = call()
	}
	*now = now.Add(breaker.Own.Pause)
	a.call = func() error { panic("an answer that was not expected") }
	if err := call(); err == nil || errors.Is(err, errOpen) || s.breaker.Closed() {
		t.Errorf("the probe that panics: got %v", err)
	}
	*now = now.Add(breaker.Own.Pause)
	a.call = func() error { return nil }
	if err := call(); err != nil || !s.breaker.Closed() {
		t.Errorf("the next one: got %v, want the breaker closed", err)
	}
}
