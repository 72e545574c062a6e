package post

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"
)

// Sender sends a request. It never sends one twice. An error wraps [ErrNotSent] when
// the server can have received none of it; after any other error the server may
// have acted. It is safe for concurrent use.
type Sender interface {
	Send(ctx context.Context, r Request) (Answer, error)
}

// Request is a POST. The names of its fields must be in their canonical form.
type Request struct {
	Path   string
	Bearer string    // the token of its Authorization; empty: none is sent
	Common *Header   // that it has like others; nil: none
	Fields []Field   // besides those, Host and Content-Length, which the sender writes
	Body   []byte    // not used after Send has returned
	Until  time.Time // its deadline, beside that of the context; zero: none
}

// Field is a header field.
type Field struct{ Name, Value string }

// Header is the fields that many requests have. They are checked and put into words once.
type Header struct {
	fields []Field
	lines  []byte // each with the line's end before it
	failed error  // why no request may have them
}

// NewHeader makes a header. A request that has one with a forbidden field is not sent.
func NewHeader(fields ...Field) *Header {
	h := &Header{fields: fields, failed: checkFields(fields)}
	for _, f := range fields {
		h.lines = f.appendTo(h.lines)
	}
	return h
}

func (f Field) appendTo(b []byte) []byte {
	return append(append(append(append(b, "\r\n"...), f.Name...), ": "...), f.Value...)
}

// Answer is what a server answered. The body is the caller's.
type Answer struct {
	Status int
	Type   string // Content-Type
	Body   []byte
}

// Errors of a sender.
var (
	ErrNotSent  = errors.New("the request was not sent")
	ErrTooLarge = errors.New("the answer is larger than allowed")
	ErrAnswer   = errors.New("the server's answer is not HTTP as we read it")
)

// target is a server's address, as requests need it.
type target struct {
	host    string // for the Host header
	address string // to dial
	name    string // of the certificate
	tls     bool
}

// targetOf reads a server's base address: a scheme and a host.
func targetOf(base string) (target, error) {
	u, err := url.Parse(base)
	if err != nil {
		return target{}, err
	}
	t := target{host: u.Host, address: u.Host, name: u.Hostname(), tls: u.Scheme == "https"}
	if t.name == "" || u.Scheme != "http" && !t.tls || u.User != nil {
		return target{}, fmt.Errorf("%q is no address of a server", base)
	}
	if u.Port() == "" {
		t.address = strings.TrimSuffix(u.Host, ":") + map[bool]string{false: ":80", true: ":443"}[t.tls]
	}
	return t, nil
}

// deadline is the earlier one of a request and its context.
func (r Request) deadline(ctx context.Context) (until time.Time, bounded bool) {
	until, bounded = ctx.Deadline()
	if !r.Until.IsZero() && (!bounded || r.Until.Before(until)) {
		return r.Until, true
	}
	return until, bounded
}

// ended joins the end of ctx, or of the request, to an error that it caused. A
// connection learns of a deadline by a timer of its own, which may run before that of ctx.
func (r Request) ended(ctx context.Context, err error) error {
	until, bounded := r.deadline(ctx)
	switch {
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case bounded && errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(until):
		return errors.Join(context.DeadlineExceeded, err)
	}
	return err
}

// check refuses what would not be the one request that it is meant to be.
func (r Request) check() error {
	if !strings.HasPrefix(r.Path, "/") || strings.ContainsFunc(r.Path, func(c rune) bool { return c <= ' ' || c > '~' || c == '#' }) {
		return fmt.Errorf("%w: the path %q", ErrNotSent, r.Path)
	}
	if !isValue(r.Bearer) {
		return fmt.Errorf("%w: the token", ErrNotSent)
	}
	if r.Common != nil && r.Common.failed != nil {
		return r.Common.failed
	}
	return checkFields(r.Fields)
}

func checkFields(fields []Field) error {
	for _, f := range fields {
		if !isToken(f.Name) || isReserved(f.Name) || !isValue(f.Value) {
			return fmt.Errorf("%w: the header %q", ErrNotSent, f.Name)
		}
	}
	return nil
}

// isReserved reports whether a header is the sender's: it says where the request ends,
// whose it is and how it travels.
func isReserved(name string) bool {
	for _, own := range [...]string{"Authorization", "Connection", "Content-Length", "Expect", "Host", "TE", "Trailer", "Transfer-Encoding", "Upgrade"} {
		if len(name) == len(own) && strings.EqualFold(name, own) {
			return true
		}
	}
	return false
}

// isToken reports whether a text can be the name of a header.
func isToken[T string | []byte](name T) bool {
	for i := range len(name) {
		if !tokenBytes[name[i]] {
			return false
		}
	}
	return len(name) > 0
}

// isValue reports whether a text can be the value of a header.
func isValue[T string | []byte](value T) bool {
	for i := range len(value) {
		if !valueBytes[value[i]] {
			return false
		}
	}
	return true
}

// tokenBytes are those of names, and valueBytes those of values.
var tokenBytes, valueBytes = func() (token, value [256]bool) {
	for c := range 256 {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		token[c] = letter || c >= '0' && c <= '9' || c < 0x7F && strings.IndexByte("!#$%&'*+-.^_`|~", byte(c)) >= 0
		value[c] = c >= ' ' && c != 0x7F || c == '\t'
	}
	return token, value
}()
