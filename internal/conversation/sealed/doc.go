// Package sealed keeps keys and logs in a store that others can write to: each
// value is sealed for its place and, under a key, for a time, so that one that was
// altered, moved or put back is none. It knows no conversation; start with Keys.
package sealed
