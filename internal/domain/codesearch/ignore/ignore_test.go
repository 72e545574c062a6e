package ignore

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// FuzzIgnored compares with git which files of a tree a .gitignore leaves.
func FuzzIgnored(f *testing.F) {
	root := f.TempDir()
	testkit.Git(f, root, "init", "--quiet")
	below := map[string][]string{} // what a folder has
	for _, file := range strings.Fields("a b ab a.go .b foo/a foo/bar/b foo/bar/ab foobar a-b/]/[ a-b/!/# a-b/\\ a-b/* b.d/a/b/a/b b.d/ö A/B") {
		if err := os.MkdirAll(filepath.Join(root, path.Dir(file)), 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o600); err != nil {
			f.Fatal(err)
		}
		for at := file; at != "."; at = path.Dir(at) {
			if folder := path.Dir(at); !slices.Contains(below[folder], at) {
				below[folder] = append(below[folder], at)
			}
		}
	}
	for _, text := range []string{"*\n!*/\n!*.go", "foo/**/b\n**/[!a]\n", "\\#\n\\!\n\\*\n[]]\n[[]\n", "/a\r\nb/\n b \n!/foo/\n", "foo**\na-*\n!a-b\n", "[[:alpha:]-a]\n[b-a]\n[\\]]\n[a-\\b]\n", "\xef\xbb\xbf?\n???\n", "**/b/**\n***/a\n"} {
		f.Add([]byte(text), false)
		f.Add([]byte(strings.ToUpper(text)), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, anyCase bool) {
		if err := os.WriteFile(filepath.Join(root, ".git/info/exclude"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		p := Patterns{AnyCase: AnyCase(anyCase)}
		p.Add(".", text)
		var got []string
		var walk func(folder string)
		walk = func(folder string) {
			for _, at := range below[folder] {
				isFolder := below[at] != nil
				switch {
				case p.Ignored(at, isFolder):
				case isFolder:
					walk(at)
				default:
					got = append(got, at)
				}
			}
		}
		walk(".")
		slices.Sort(got)
		want := strings.FieldsFunc(testkit.Git(t, root, "-c", fmt.Sprint("core.ignoreCase=", anyCase), "ls-files", "--others", "--exclude-standard", "-z"), func(r rune) bool { return r == 0 })
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%q leaves %q, and git leaves %q", text, got, want)
		}
	})
}

// TestNamedClassesAreGits compares every byte.
func TestNamedClassesAreGits(t *testing.T) {
	root := t.TempDir()
	testkit.Git(t, root, "init", "--quiet")
	for c := 1; c < 128; c++ {
		if c != '/' {
			if err := os.WriteFile(filepath.Join(root, string([]byte{'x', byte(c)})), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name := range named {
		text := "x[[:" + name + ":]]\n"
		if err := os.WriteFile(filepath.Join(root, ".git/info/exclude"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		left := testkit.Git(t, root, "ls-files", "--others", "--exclude-standard", "-z")
		var p Patterns
		p.Add(".", []byte(text))
		for c := 1; c < 128; c++ {
			file := string([]byte{'x', byte(c)})
			if c != '/' && p.Ignored(file, false) == strings.Contains("\x00"+left, "\x00"+file+"\x00") {
				t.Errorf("%s and %q: git has it otherwise", name, file)
			}
		}
	}
}

// TestStarsAreTriedOnce: patterns that could match in very many ways do not take long.
func TestStarsAreTriedOnce(t *testing.T) {
	var p Patterns
	p.Add(".", []byte(strings.Repeat("**/a*", 200)+"/**/b\n"+strings.Repeat("*a", 200)+"b\n"))
	if p.Ignored(strings.Repeat("aa/", 600)+strings.Repeat("a", 255), false) {
		t.Error("it is not ignored")
	}
}
