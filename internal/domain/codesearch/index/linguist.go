package index

import (
	"bytes"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

// What of go-enry is used here, over its tables. Its main package also has a classifier,
// whose table takes 13 MB of every process that has it in its program, and each command is
// one program.

// sniffed is how much of a file is searched for a zero byte.
const sniffed = 8000

// isBinary reports whether a file is not text, as git has it.
func isBinary(src []byte) bool { return bytes.IndexByte(src[:min(len(src), sniffed)], 0) >= 0 }

// first returns the first of several languages, which are in the order of the alphabet.
func first(languages []string) string {
	if len(languages) == 0 {
		return ""
	}
	return languages[0]
}

// byFilename names the language of a file that is known by its whole name.
func byFilename(name string) string { return first(data.LanguagesByFilename[path.Base(name)]) }

// byExtension names the language of the longest extension that is known.
func byExtension(name string) string {
	name = strings.ToLower(name)
	for i := range len(name) {
		if name[i] == '.' {
			if languages, known := data.LanguagesByExtension[name[i:]]; known {
				return first(languages)
			}
		}
	}
	return ""
}

var (
	handsOver    = regexp.MustCompile(`exec (\w+).+\$0.+\$@`) // a script for sh that another interpreter reads
	setsUp       = regexp.MustCompile(`-|\S=\S`)              // an option or a variable of env
	minorVersion = regexp.MustCompile(`python\d\.\d+`)
)

// byInterpreter names the language of a script by its first line.
func byInterpreter(src []byte) string {
	line, _, _ := bytes.Cut(src, []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 1 && setsUp.MatchString(words[0]) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	interpreter := path.Base(words[0])
	switch {
	case interpreter == "sh":
		lines := bytes.SplitN(src, []byte("\n"), 6)
		if m := handsOver.FindSubmatch(bytes.Join(lines[:min(5, len(lines))], []byte("\n"))); m != nil {
			interpreter = string(m[1])
		}
	case minorVersion.MatchString(interpreter):
		interpreter, _, _ = strings.Cut(interpreter, ".")
	case interpreter == "osascript" && bytes.Contains(line, []byte("-l")):
		return ""
	}
	return first(data.LanguagesByInterpreter[interpreter])
}

// rules answers what go-enry's rules say of paths. It keeps what they say of the last
// folder: its rules are many expressions, and files come folder by folder. The zero
// value is ready, and for one goroutine.
type rules struct {
	folder              string
	vendored, generated bool // everything in it
}

// plainEndings are those of files whose own names no rule is about, unless these have a
// further point.
var plainEndings = map[string]bool{".go": true, ".java": true, ".rs": true, ".rb": true, ".kt": true, ".swift": true, ".scala": true, ".cc": true, ".cpp": true, ".sql": true, ".md": true}

// plain reports whether only the folders of a path decide, and looks at them.
func (r *rules) plain(name string) bool {
	folder, base := path.Split(name)
	ending := path.Ext(base)
	if !plainEndings[ending] || strings.Contains(strings.TrimSuffix(base, ending), ".") || strings.Contains(folder, "irror") || strings.Contains(folder, "tiny_mce") {
		return false // names in some folders are in rules without their endings
	}
	if r.folder != folder {
		*r = rules{folder, data.FastVendorMatcher.MatchString(folder), generatedName(folder)}
	}
	return true
}

// isVendored reports whether a path is one of other people's code.
func (r *rules) isVendored(name string) bool {
	if r.plain(name) {
		return r.vendored
	}
	return data.FastVendorMatcher.MatchString(name)
}

// isGenerated reports whether a file was written by a program.
func (r *rules) isGenerated(name string, head []byte) bool {
	extension := strings.ToLower(filepath.Ext(name))
	if _, known := data.GeneratedCodeExtensions[extension]; known {
		return true
	}
	if r.plain(name) && r.generated || !r.plain(name) && generatedName(name) {
		return true
	}
	name = strings.ToLower(name)
	for _, matches := range data.GeneratedCodeMatchers {
		if matches(name, extension, head) {
			return true
		}
	}
	return false
}

// generatedName reports whether a path alone says that a program wrote a file.
func generatedName(name string) bool {
	return slices.ContainsFunc(data.GeneratedCodeNameMatchers, func(matches data.GeneratedCodeNameMatcher) bool { return matches(name) })
}
