// Package connected makes servers of the file of connected servers: it reads the
// file, and says how each is reached. What their tools may do is decided by
// package upstream, after the file's rules.
//
// It owns the environment that a child process gets, and its log. Start with
// [Open].
package connected
