package linguist

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

// Flag says what kind of file a file is. Ranking puts such files later.
type Flag uint8

// The flags. Path and content decide them.
const (
	Test Flag = 1 << iota
	Example
	Generated
	Vendored
	Reexport // only imports and exports what other files define
	Prose    // documentation
	Data     // JSON, YAML and the like
	Legacy   // compatibility with the past, and declarations of what is in other files
)

// ContentFlags are the flags that a file's text decides.
func ContentFlags(name, language string, src []byte) (f Flag) {
	switch kind := data.Type(data.LanguagesType[language]); {
	case kind == data.TypeProse:
		f |= Prose
	case kind == data.TypeData, language == "": // no language is known to look so
		f |= Data
	}
	head := src[:min(len(src), 2048)]
	if saysGenerated(head) || isGenerated(name, head) {
		f |= Generated
	}
	if reexports(name, src) {
		f |= Reexport
	}
	if declares(name, src) {
		f |= Legacy
	}
	return f
}

// saysGenerated reports whether the head of a file says that a program wrote it, or put it
// together of other files.
func saysGenerated(head []byte) bool {
	if bytes.Contains(head, []byte("@generated")) {
		return true
	}
	if !slices.ContainsFunc(warnings, func(word []byte) bool { return bytes.Contains(head, word) }) {
		return false // most files, without a copy in lower case
	}
	head = bytes.ToLower(head)
	says := func(text string) bool { return bytes.Contains(head, []byte(text)) }
	return (says("generated") || says("merged") || says("amalgam")) && (says("do not edit") || says("don't edit") || says("do not modify"))
}

// warnings are words of what a generated file forbids, as people write them.
var warnings = [][]byte{[]byte("edit"), []byte("Edit"), []byte("EDIT"), []byte("modify"), []byte("Modify"), []byte("MODIFY")}

// reexports reports whether a file only names what other files define, such as
// __init__.py or index.ts often do.
func reexports(name string, src []byte) bool {
	switch base := path.Base(name); base {
	case "__init__.py", "index.js", "index.ts", "index.tsx", "index.jsx", "index.mjs", "mod.rs", "lib.rs", "package-info.java":
	default:
		return false
	}
	code, passing := 0, 0
	for line := range bytes.Lines(src) {
		line = bytes.TrimSpace(line)
		if len(line) < 3 || bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("*")) || bytes.HasPrefix(line, []byte("/*")) {
			continue
		}
		code++
		for _, prefix := range []string{"import ", "from ", "export {", "export *", "export type {", "pub use ", "pub mod ", "use ", "mod ", "__all__", "exports.", "module.exports", "package ", "'", "\"", "}", ")", "require(", "const {"} {
			if bytes.HasPrefix(line, []byte(prefix)) {
				passing++
				break
			}
		}
	}
	return code == 0 || passing*10 >= code*7
}

// declares reports whether a header of C or its relatives has more prototypes than
// bodies: what it declares is in other files.
func declares(name string, src []byte) bool {
	switch path.Ext(name) {
	case ".h", ".hh", ".hpp", ".hxx":
	default:
		return false
	}
	prototypes, bodies := 0, 0
	for line := range bytes.Lines(src) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || bytes.IndexByte([]byte("*/#"), line[0]) >= 0 { // a comment, or the preprocessor's
			continue
		}
		switch i := bytes.LastIndexByte(line, ')'); {
		case i < 0:
		case bytes.HasSuffix(line, []byte("{")) || bytes.HasSuffix(line, []byte("}")):
			bodies++
		case line[len(line)-1] == ';' && !bytes.ContainsAny(line[i:], "{}"):
			prototypes++
		}
	}
	return prototypes > 2*bodies
}

// PathFlags are the flags that a file's place decides.
func PathFlags(name string) (f Flag) {
	lower := strings.ToLower(name)
	folders, base := path.Split(lower)
	for folder := range strings.SplitSeq(strings.Trim(folders, "/"), "/") {
		f |= folderFlags[folder]
		if strings.HasPrefix(folder, "example") {
			f |= Example
		}
		if (folder == "doc" || folder == "docs") && (path.Ext(base) == ".html" || path.Ext(base) == ".htm") {
			f |= Prose
		}
		if strings.Contains(folder, "-testing") || strings.Contains(folder, "testing-") || strings.HasPrefix(folder, "test_") || strings.HasPrefix(folder, "test-") || strings.HasSuffix(folder, "tests") || strings.HasSuffix(folder, "test") && len(folder) > 6 && !strings.HasSuffix(folder, "latest") && (folder != "unittest" || path.Ext(base) != ".py") {
			f |= Test
		}
	}
	if strings.HasPrefix(lower, "fuzz/") { // elsewhere it may be about fuzzing
		f |= Test
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	original := strings.TrimSuffix(path.Base(name), path.Ext(name))
	switch {
	case strings.HasPrefix(stem, "test_"), strings.HasSuffix(stem, "_test") && path.Ext(base) != ".ex", strings.HasSuffix(stem, ".test"), strings.HasSuffix(stem, ".spec"), strings.HasSuffix(stem, "_spec"), strings.HasSuffix(stem, "_unittest"), strings.HasSuffix(stem, "-test"),
		strings.HasSuffix(stem, "_tests"), strings.HasSuffix(stem, ".tests"), strings.HasSuffix(stem, "-tests"), strings.HasSuffix(stem, "-spec"), strings.HasSuffix(stem, ".test-d"), strings.HasSuffix(stem, ".cy"), strings.HasSuffix(stem, "_fuzzer"),
		stem == "conftest", stem == "tests", testEndings[path.Ext(base)], strings.HasSuffix(original, "Test"), strings.HasSuffix(original, "Tests"), strings.HasSuffix(original, "Spec") && specs[path.Ext(base)], strings.HasSuffix(original, "TestCase"):
		f |= Test
	}
	if strings.HasPrefix(stem, "example") || strings.HasSuffix(stem, "_example") || strings.HasSuffix(stem, ".stories") || strings.HasSuffix(stem, ".bench") ||
		strings.HasSuffix(stem, "_bench") || strings.HasSuffix(stem, "_benchmark") || strings.HasSuffix(stem, "-bench") || strings.HasSuffix(original, "Benchmark") || strings.HasSuffix(original, "Benchmarks") {
		f |= Example
	}
	declares := strings.HasSuffix(base, ".d.ts") || strings.HasSuffix(base, ".d.mts") || strings.HasSuffix(base, ".d.cts") || strings.HasSuffix(base, ".pyi")
	if declares {
		f |= Legacy
	}
	if papers[stem] && path.Ext(base) == "" {
		f |= Prose
	}
	if f&(Test|Example) == 0 && !declares && isVendored(asSource(name)) { // Linguist takes all .d.ts for others' code
		f |= Vendored
	}
	return f
}

// asSource is a path without folders that Linguist takes for others' code because repositories seldom keep caches and
// what was built. A file that one does keep there is source, a store in internal/cache or a tool cmd/dist, unless it is
// for the web.
func asSource(name string) string {
	if builtEndings[path.Ext(name)] {
		return name
	}
	parts := strings.Split(name, "/")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "cache" || part == "dist" }), "/")
}

// builtEndings are those of files that are built into a folder dist.
var builtEndings = map[string]bool{".js": true, ".mjs": true, ".cjs": true, ".ts": true, ".tsx": true, ".css": true, ".map": true, ".svg": true, ".wasm": true, ".html": true, ".json": true}

// specs are the endings of files that are tests when their names end in Spec. In other languages tests of that name are in
// a folder of tests, and a ConnectionSpec elsewhere is none.
var specs = map[string]bool{".js": true, ".jsx": true, ".ts": true, ".tsx": true, ".mts": true, ".cts": true, ".mjs": true, ".cjs": true, ".coffee": true}

// testEndings are those of files that are tests in their languages.
var testEndings = map[string]bool{".t": true, ".bats": true, ".phpt": true}

// papers are files about a project that have no ending.
var papers = map[string]bool{"authors": true, "changelog": true, "changes": true, "contributors": true, "copying": true, "history": true, "license": true, "news": true, "notice": true, "readme": true, "todo": true}

// folderFlags are the flags of everything below a folder of that name.
var folderFlags = map[string]Flag{
	"test": Test, "tests": Test, "t": Test, "xt": Test, "__tests__": Test, "spec": Test, "specs": Test, "testdata": Test, "fixtures": Test, "__mocks__": Test, "e2e": Test, "testutil": Test, "fuzz_targets": Test, "fuzzing": Test, "fuzzers": Test, "__fixtures__": Test, "__snapshots__": Test, "mocks": Test, "cypress": Test,
	"_examples": Example, "benches": Example, "sample": Example, "samples": Example, "demo": Example, "demos": Example, "benchmark": Example, "benchmarks": Example, "bench": Example, "playground": Example, "tutorial": Example, "docs_src": Example, "quickstart": Example, "cookbook": Example, "jmh": Example, "showcase": Example,
	"single_include": Generated, "single_header": Generated, "amalgamation": Generated, "amalgamated": Generated,
	"vendor": Vendored, "third_party": Vendored, "thirdparty": Vendored,
	"compat": Legacy, "_compat": Legacy, "legacy": Legacy, "deprecated": Legacy,
}
