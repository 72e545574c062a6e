// Package glob says which paths a pattern matches, for every store of code alike: * is a part
// of a name, ? a character, [a-z] one of some, ** any number of folders. Start with
// [Matches].
package glob

import (
	"errors"
	"path"
	"regexp"
	"strings"
)

// anyDepth is the part of a pattern that means any number of folders.
const anyDepth = "**"

// alternatives are what shells know and patterns here do not.
var alternatives = regexp.MustCompile(`\{[^{}]*,[^{}]*\}`)

// What is wrong with a pattern of paths.
var (
	ErrAlternatives = errors.New("a path has no alternatives in braces")
	ErrPattern      = errors.New("the path is no valid pattern")
)

// Check says what is wrong with a pattern that would find nothing, whatever is there.
func Check(pattern string) error {
	if alternatives.MatchString(pattern) {
		return ErrAlternatives
	}
	if strings.Contains(pattern, "[") && !IsPattern(pattern) {
		return ErrPattern
	}
	return nil
}

// IsPattern reports whether a text has wildcards, and all of them are valid.
func IsPattern(pattern string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	if HasAnyDepth(pattern) {
		for part := range strings.SplitSeq(pattern, "/") {
			if _, err := path.Match(part, ""); err != nil {
				return false
			}
		}
		return true
	}
	_, err := path.Match(pattern, "")
	return err == nil
}

// HasAnyDepth reports whether a part of a pattern is ** alone.
func HasAnyDepth(pattern string) bool { return strings.Contains("/"+pattern+"/", "/"+anyDepth+"/") }

// Matches reports whether a path is that of the pattern, below it, or matches it. A part ** of
// a pattern is any number of folders, also none; a pattern without a slash may match the
// file's own name.
func Matches(name, pattern string) bool {
	if name == pattern || strings.HasPrefix(name, pattern+"/") {
		return true
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	if HasAnyDepth(pattern) {
		return IsPattern(pattern) && matchesParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
	}
	for at := name; at != "." && at != "/"; at = path.Dir(at) {
		if ok, _ := path.Match(pattern, at); ok {
			return true
		}
	}
	ok, _ := path.Match(pattern, path.Base(name))
	return ok
}

// matchesParts reports whether a path or a folder of it matches a pattern. Only the last **
// is tried again: what is before it matches already, with as few folders as can be.
func matchesParts(pattern, name []string) bool {
	at, from := 0, 0     // in the pattern, in the name
	again, last := -1, 0 // after the last **, and where what follows it was tried
	for at < len(pattern) {
		switch {
		case pattern[at] == anyDepth:
			at++
			again, last = at, from
			continue
		case from < len(name):
			if ok, _ := path.Match(pattern[at], name[from]); ok {
				at, from = at+1, from+1
				continue
			}
		}
		if again < 0 || last >= len(name) {
			return false
		}
		last++
		at, from = again, last
	}
	return true
}
