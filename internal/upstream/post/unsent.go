package post

import "strings"

// unsent is why a request was not sent: [ErrNotSent], whose words are left to who asked for
// it.
type unsent struct{ error }

// Error is the cause in one line.
func (u unsent) Error() string { return strings.ReplaceAll(u.error.Error(), "\n", ": ") }

// Is reports whether target is ErrNotSent.
func (unsent) Is(target error) bool { return target == ErrNotSent }

// Unwrap returns the cause.
func (u unsent) Unwrap() error { return u.error }
