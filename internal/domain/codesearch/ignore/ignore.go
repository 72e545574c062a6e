// Package ignore says which files git ignores by the patterns of .gitignore files, in every
// detail as git does: what git hides must not be found. It reads no files. Start with
// [Patterns].
package ignore

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// Patterns are those of a repository's files, for a walk from its top. The zero value has none.
type Patterns struct {
	AnyCase AnyCase // is set before Add
	files   []file
}

// file is one of them.
type file struct {
	below    string // its folder and a slash; empty: the top
	patterns []pattern
}

type pattern struct {
	text    string
	literal int  // how many bytes of the text are before its first wildcard
	keep    bool // ! was before it
	folders bool // / was after it: it matches folders only
	names   bool // it matches the last name of a path, wherever that is
	anyCase AnyCase
}

// Add adds the patterns of a file in a folder, whose path has slashes. They precede those that
// are there. Those of folders that the walk has left are removed.
func (p *Patterns) Add(folder string, text []byte) {
	var f file
	if folder = path.Clean(folder); folder != "." {
		f.below = folder + "/"
	}
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		if one := parse(line, p.AnyCase); one.text != "" { // an empty one matches nothing
			f.patterns = append(f.patterns, one)
		}
	}
	p.files = slices.DeleteFunc(p.files, func(old file) bool { return !strings.HasPrefix(f.below, old.below) })
	p.files = append(p.files, f)
}

// Ignored reports whether git ignores a path whose folder it does not ignore.
func (p *Patterns) Ignored(path string, folder bool) bool {
	for _, f := range slices.Backward(p.files) {
		below, ok := strings.CutPrefix(path, f.below)
		if !ok {
			continue
		}
		below = p.AnyCase.cased(below)
		for i := len(f.patterns) - 1; i >= 0; i-- {
			if f.patterns[i].matches(below, folder) {
				return !f.patterns[i].keep
			}
		}
	}
	return false
}

// wildcards are the bytes of a pattern that are not only themselves.
const wildcards = `*?[\`

func parse(line []byte, anyCase AnyCase) (p pattern) {
	line, _, _ = bytes.Cut(line, []byte{0}) // git's texts end there
	p.text, p.keep = strings.CutPrefix(trimmed(string(line)), "!")
	p.text, p.folders = strings.CutSuffix(p.text, "/")
	p.names = !strings.Contains(p.text, "/")
	p.text = strings.TrimPrefix(p.text, "/")
	if p.literal = strings.IndexAny(p.text, wildcards); p.literal < 0 {
		p.literal = len(p.text)
	}
	p.anyCase = anyCase
	p.text = anyCase.cased(p.text[:p.literal]) + p.text[p.literal:]
	return p
}

// trimmed is a line without the spaces at its end that are not escaped.
func trimmed(line string) string {
	short := strings.TrimRight(line, " ")
	escapes := len(short) - len(strings.TrimRight(short, `\`))
	if escapes%2 == 1 && len(short) < len(line) {
		return short + " "
	}
	return short
}

func (p *pattern) matches(path string, folder bool) bool {
	if p.folders && !folder {
		return false
	}
	if p.names {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	path, ok := strings.CutPrefix(path, p.text[:p.literal])
	if !ok {
		return false
	}
	rest := p.text[p.literal:]
	if end, ok := strings.CutPrefix(rest, "*"); ok && p.names && !strings.ContainsAny(end, wildcards) { // most are so
		return strings.HasSuffix(path, p.anyCase.cased(end))
	}
	return match(rest, path, p.anyCase)
}

// match reports whether a pattern matches a whole path. The work grows with the product of
// their lengths, however many stars a repository has in its patterns.
func match(pattern, path string, anyCase AnyCase) bool {
	at := make(reached, len(path)+1)
	at[0] = true
	for i := 0; i < len(pattern); {
		c, end := pattern[i], i+1
		switch c {
		case '*':
			rest := strings.TrimLeft(pattern[end:], "*")
			end = len(pattern) - len(rest)
			anyDepth := end-i > 1 && (i == 0 || pattern[i-1] == '/') && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
			if anyDepth && strings.HasPrefix(rest, "/") {
				at.folders(path)
				end++
			} else {
				at.star(path, anyDepth)
			}
		case '?':
			at.one(path, func(c byte) bool { return c != '/' })
		case '[':
			set, rest, ok := class(pattern[end:], anyCase)
			if !ok {
				return false
			}
			at.one(path, func(c byte) bool { return set[c] })
			end = len(pattern) - len(rest)
		case '\\':
			if end == len(pattern) {
				return false
			}
			c = pattern[end]
			end++
			at.one(path, func(other byte) bool { return other == c })
		default:
			c = anyCase.byte(c)
			at.one(path, func(other byte) bool { return other == c })
		}
		i = end
	}
	return at[len(path)]
}

// reached says for each number of bytes of a path whether the pattern so far matches them.
type reached []bool

// one goes on by one byte.
func (at reached) one(path string, accepts func(byte) bool) {
	for i := len(path); i > 0; i-- {
		at[i] = at[i-1] && accepts(path[i-1])
	}
	at[0] = false
}

// star goes on by any bytes, or any that are no slash.
func (at reached) star(path string, slashes bool) {
	for i := range len(path) {
		at[i+1] = at[i+1] || at[i] && (slashes || path[i] != '/')
	}
}

// folders goes on by any number of folders, each with its slash.
func (at reached) folders(path string) {
	begun := false
	for i := range len(path) {
		begun = begun || at[i]
		at[i+1] = at[i+1] || begun && path[i] == '/'
	}
}
