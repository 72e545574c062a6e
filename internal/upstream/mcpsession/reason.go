package mcpsession

import (
	"context"
	"errors"
)

// plainContext is a context whose end has plain words: the SDK sends them to the server as
// the reason of notifications/cancelled.
type plainContext struct{ context.Context }

// Err implements context.Context.
func (c plainContext) Err() error {
	switch err := c.Context.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return reason{"The answer took too long.", err}
	default:
		return reason{"The caller no longer waits for the answer.", err}
	}
}

// reason is the end of a context in plain words.
type reason struct {
	text  string
	cause error
}

func (r reason) Error() string { return r.text }

// Unwrap lets errors.Is see which end it is.
func (r reason) Unwrap() error { return r.cause }
