package httpx

import "net/http"

// recorder records the status and size of a response. Each request has one,
// which all middleware shares.
type recorder struct {
	http.ResponseWriter
	status  int // 0 until the response started
	written int64
	values  [maxOwn]string // of headers that every response has
	own     int            // how many they are
}

// maxOwn is how many headers are set without an allocation for each.
const maxOwn = 9

// set sets a header, whose name is in its canonical form.
func (r *recorder) set(name, value string) {
	if r.own == maxOwn {
		r.Header()[name] = []string{value}
		return
	}
	r.values[r.own] = value
	r.own++
	r.Header()[name] = r.values[r.own-1 : r.own : r.own]
}

func track(w http.ResponseWriter) *recorder {
	if rec, ok := w.(*recorder); ok {
		return rec
	}
	return &recorder{ResponseWriter: w}
}

// Status is the status that the client received. A response that was never
// started is a 200 by the rules of net/http.
func (r *recorder) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// WriteHeader records the final status; informational ones do not start a response.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements http.Flusher.
func (r *recorder) Flush() {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}
