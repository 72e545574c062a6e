package admission

import (
	"context"
	"io"
	"net/http"
)

// Bracket gives each request its work, which begins when its caller is known and
// calls [Work.Admit]. It is paused while the body arrives and ends with the first
// byte of the answer: slow clients hold nothing. After a panic it has ended, too.
func (q *Queue) Bracket(next http.Handler) http.Handler {
	if q == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work := q.Work()
		out := &writer{ResponseWriter: w, work: work}
		defer out.end()
		r = r.WithContext(With(r.Context(), work))
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &body{r.Body, r.Context(), out, r.ContentLength < 0}
		}
		next.ServeHTTP(out, r)
	})
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

// end ends the work of a request that was answered, or left without an answer.
func (w *writer) end() {
	w.work.End()
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
