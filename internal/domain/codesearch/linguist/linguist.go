package linguist

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

// What of go-enry is used here, over its tables. Its main package also has a classifier,
// whose table takes 13 MB of every process that has it in its program, and each command is
// one program.

// sniffed is how much of a file is searched for a zero byte.
const sniffed = 8000

// IsBinary reports whether a file is not text, as git has it.
func IsBinary(src []byte) bool { return bytes.IndexByte(src[:min(len(src), sniffed)], 0) >= 0 }

// extensions are the languages of common extensions; go-enry knows several for
// some of them and would have to read the text.
var extensions = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript", ".ts": "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript",
	".tsx": "TSX", ".java": "Java", ".c": "C", ".h": "C++", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".hxx": "C++", ".inl": "C++", ".cs": "C#", ".rb": "Ruby", ".rake": "Ruby", ".rs": "Rust", ".php": "PHP",
	".kt": "Kotlin", ".kts": "Kotlin", ".swift": "Swift", ".scala": "Scala", ".lua": "Lua", ".zig": "Zig", ".ex": "Elixir", ".exs": "Elixir", ".hs": "Haskell", ".sh": "Shell", ".bash": "Shell", ".md": "Markdown", ".m": "Objective-C",
	".sql": "SQL", ".json": "JSON", ".yaml": "YAML", ".yml": "YAML", ".xml": "XML", ".html": "HTML", ".css": "CSS", ".vue": "Vue", ".svelte": "Svelte", ".dart": "Dart", ".txt": "Text", ".s": "Assembly", ".proto": "Protocol Buffer",
}

// LanguageOf names the language of a file, or nothing.
func LanguageOf(name string, src []byte) string {
	if language, ok := extensions[strings.ToLower(path.Ext(name))]; ok {
		return language
	}
	if language := cmp.Or(byFilename(name), byExtension(name)); language != "" || !bytes.HasPrefix(src, []byte("#!")) {
		return language
	}
	return byInterpreter(src)
}

// LanguageNamed is the name under which files have a language, for one that people use for it: Go for golang,
// JavaScript for js. What is no such name stays as it is.
func LanguageNamed(name string) string {
	name = strings.TrimSpace(name)
	if language, known := data.LanguageByAlias(name); known {
		return language
	}
	return name
}

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
