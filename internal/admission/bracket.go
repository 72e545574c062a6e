package admission

import (
	"context"
	"io"
	"net/http"
)

// Bracket gives each request its work, which begins when its caller is known and
// calls [Work.Admit]. It is paused while the body arrives and ends with the first
// byte of the answer: slow clients hold no slot. After a panic it has ended, too.
func (q *Queue) Bracket(next http.Handler) http.Handler {
	if q == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &bracket{work: Work{queue: q}}
		b.held = held{r.Context(), &b.work}
		b.out = writer{ResponseWriter: w, work: &b.work}
		defer b.out.end(From(r.Context()))
		r = r.WithContext(&b.held)
		if r.Body != nil && r.Body != http.NoBody {
			b.in = body{r.Body, &b.held, &b.out, r.ContentLength < 0}
			r.Body = &b.in
		}
		next.ServeHTTP(&b.out, r)
	})
}

// bracket is what a request has of its own.
type bracket struct {
	work Work
	held held
	in   body
	out  writer
}

// body pauses the work until it has been read.
type body struct {
	io.ReadCloser
	ctx     context.Context
	answer  *writer
	counted bool // its length was not declared
}

// Read implements io.Reader. At the end of the body the work is admitted; its
// refusal takes the place of io.EOF.
func (b *body) Read(p []byte) (int, error) {
	work := b.answer.work
	work.goes()
	n, err := b.ReadCloser.Read(p)
	work.comes()
	if b.counted {
		b.answer.bytes += int64(n)
	}
	if err == io.EOF {
		if refused := work.Admit(b.ctx); refused != nil {
			return n, refused
		}
	}
	return n, err
}

// writer ends the work with the first byte.
type writer struct {
	http.ResponseWriter
	work  *Work
	bytes int64 // of the answer, and of a body whose length was not declared
}

// end ends the work of a request that was answered, or left without an answer. One that
// was made for another one leaves that one its place.
func (w *writer) end(outer *Work) {
	w.work.End()
	w.work.close(outer)
	if answered := w.work.answered; answered != nil {
		answered(w.bytes)
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.work.End()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(b []byte) (int, error) {
	w.work.End()
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
