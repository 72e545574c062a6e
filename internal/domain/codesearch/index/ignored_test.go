package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// listed are the files of a folder that a walk finds.
func listed(t testing.TB, folder string) (names []string) {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range w.files {
		names = append(names, f.path)
	}
	return names
}

// kept are the files of a folder that git would add.
func kept(t testing.TB, folder string) []string {
	t.Helper()
	names := strings.FieldsFunc(testkit.Git(t, folder, "ls-files", "--others", "--exclude-standard", "-z"), func(r rune) bool { return r == 0 })
	slices.Sort(names)
	return names
}

// asGit compares what a walk of a folder finds with what git would add.
func asGit(t *testing.T, folder string) {
	t.Helper()
	got, want := listed(t, folder), kept(t, folder)
	slices.Sort(got)
	if slices.Equal(got, want) {
		return
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%q is ignored by git, and not by the walk", name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%q is not ignored by git", name)
		}
	}
}

// TestWalkIgnoresAsGit: every kind of pattern, in the files that git reads.
func TestWalkIgnoresAsGit(t *testing.T) {
	const all = "a.go deploy/prod.env deploy/main.go keep/a.log keep/sub/b.log keep/a.txt a b/a b/c/a b/c/d/a ax bx !x #x \\x [a]x a\\ trail' 'x foo/bar foobar foo/x/bar foox/y/bar ö.txt A.LOG a.log Keep/A.log x/y/z x/z"
	for name, files := range map[string]map[string]string{
		"only Go files, in all folders":      {".gitignore": "*\n!*/\n!*.go\n"},
		"a folder is kept, not its files":    {".gitignore": "*.log\n!/keep/\n"},
		"a folder is kept by its name":       {".gitignore": "*.log\n!keep\n"},
		"files of an ignored folder":         {".gitignore": "keep/\n!keep/a.log\n"},
		"files of a folder that is ignored":  {".gitignore": "keep/*\n!keep/sub/\n"},
		"negated class":                      {".gitignore": "[!a]x\n"},
		"negated class, other way":           {".gitignore": "[^a]x\n"},
		"classes":                            {".gitignore": "[a-b]x\nfoo[[:alpha:]]ar\n[[:nothing:]]x\n"},
		"class that does not end":            {".gitignore": "[a\nb[\n"},
		"class does not match a slash":       {".gitignore": "foo[/]bar\nfoo[^a]bar\n"},
		"class of brackets":                  {".gitignore": "[]]*\n[[]a]x\n"},
		"three stars":                        {".gitignore": "***/z\n"},
		"two stars at the beginning":         {".gitignore": "**/a\n"},
		"two stars at the end":               {".gitignore": "b/**\n!b/c/\n"},
		"two stars between":                  {".gitignore": "b/**/a\nx/**/z\n"},
		"two stars in a name":                {".gitignore": "foo**/bar\nb**a\nx**z\n"},
		"two stars alone":                    {".gitignore": "**\n!*/\n!b/c/**\n"},
		"only two stars and a slash":         {".gitignore": "**/\n"},
		"byte order mark":                    {".gitignore": "\xef\xbb\xbfa.go\n"},
		"byte order mark in the second line": {".gitignore": "a\n\xef\xbb\xbfa.go\n"},
		"slash at the beginning":             {".gitignore": "/a\n//ax\n/\n"},
		"slash in the middle":                {".gitignore": "b/a\nc/a\n"},
		"slash at the end":                   {".gitignore": "c/\na.go/\n"},
		"slashes at the end":                 {".gitignore": "c//\nb//\n"},
		"escapes":                            {".gitignore": "\\#x\n\\!x\n\\\\x\n\\a\n"},
		"not escaped":                        {".gitignore": "#x\n!x\n"},
		"escape at the end":                  {".gitignore": "a\\\nb/\\\n"},
		"escaped class":                      {".gitignore": "\\[a]x\n"},
		"spaces at the end":                  {".gitignore": "ax  \nbx\\ \nb/a\\  \n"},
		"spaces at the beginning":            {".gitignore": " ax\n"},
		"tab at the end":                     {".gitignore": "ax\t\n"},
		"lines of another system":            {".gitignore": "ax\r\nbx \r\na\r\r\n\r\n"},
		"no end of the line":                 {".gitignore": "ax\nbx\r"},
		"a zero byte":                        {".gitignore": "ax\x00y\n!bx\x00\n"},
		"bytes that are no characters":       {".gitignore": "?.txt\n??.txt\n"},
		"one of several bytes":               {".gitignore": "[\xc3]\xb6.txt\n"},
		"case":                               {".gitignore": "*.LOG\nKEEP/\n"},
		"any case":                           {".gitignore": "*.LOG\nKEEP/\n[B]x\n[F-G]oo/\\Bar\n[[:upper:]]x\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tignoreCase = true\n"},
		"any case below a folder":            {"x/A/.gitignore": "a.*\n", "x/A/a.go": "text\n", "x/a/a.go": "text\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tignoreCase = true\n"},
		"stars that are tried often":         {".gitignore": "*a*a*\n*o*b*r\nfoo/*/b*\n"},
		"question marks":                     {".gitignore": "?x\nfoo?bar\nb/?\n"},
		"files of the repository's own":      {".git/info/exclude": "*.log\nax\n", ".gitignore": "!a.log\n", "keep/.gitignore": "!*.log\n"},
		"files of folders":                   {".gitignore": "*.log\n", "keep/.gitignore": "!a.log\n/sub/b.log\nkeep/a.txt\n", "b/.gitignore": "/a\n!/c/\n", "b/c/.gitignore": "d/\n"},
		"a file of an ignored folder":        {".gitignore": "keep/\n", "keep/.gitignore": "!*\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			testkit.Git(t, root, "init", "--quiet")
			for _, file := range strings.Fields(all) {
				put(t, root, file, "text\n")
			}
			put(t, root, "bx ", "text\n")
			for file, text := range files {
				put(t, root, file, text)
			}
			asGit(t, root)
		})
	}
}

// TestWorktreeHasTheRepositorysPatterns: its own folder of git is elsewhere. A part of it has
// them, too.
func TestWorktreeHasTheRepositorysPatterns(t *testing.T) {
	repository, worktree := t.TempDir(), filepath.Join(t.TempDir(), "w")
	testkit.Git(t, repository, "init", "--quiet")
	testkit.Git(t, repository, "commit", "--quiet", "--allow-empty", "--message=one")
	testkit.Git(t, repository, "worktree", "add", "--quiet", worktree)
	put(t, repository, ".git/info/exclude", "mine.txt\n/src/a.go\n")
	for _, name := range []string{"mine.txt", "src/mine.txt", "src/a.go", "src/b.go"} {
		put(t, worktree, name, "text\n")
	}
	asGit(t, worktree)
	asGit(t, filepath.Join(worktree, "src"))
}

// TestLinkHasNoPatterns: git does not follow a .gitignore that is a link.
func TestLinkHasNoPatterns(t *testing.T) {
	root := t.TempDir()
	testkit.Git(t, root, "init", "--quiet")
	put(t, root, "a.go", "text\n")
	put(t, root, "patterns", "a.go\n")
	if err := os.Symlink("patterns", filepath.Join(root, ".gitignore")); err != nil {
		t.Fatal(err)
	}
	if got, want := listed(t, root), []string{"a.go", "patterns"}; !slices.Equal(got, want) || !slices.Equal(kept(t, root), append([]string{".gitignore"}, want...)) {
		t.Errorf("found %q", got)
	}
}

// TestWalkIgnoresAsGitWhateverIsThere compares random folders with random patterns.
func TestWalkIgnoresAsGitWhateverIsThere(t *testing.T) {
	rounds := 40
	if testkit.Soak() {
		rounds = 1000
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(seed)))
			root := t.TempDir()
			testkit.Git(t, root, "init", "--quiet")
			if r.IntN(4) == 0 {
				testkit.Git(t, root, "config", "core.ignorecase", "true")
			}
			folders := []string{""}
			for range 6 {
				folders = append(folders, folders[r.IntN(len(folders))]+chosen(r, 1+r.IntN(2), "a", "b", "B", "foo", ".x")+"/")
			}
			for _, folder := range folders {
				for range 4 {
					put(t, root, folder+chosen(r, 1+r.IntN(3), "a", "b", "A", "-", " ", "\\", "[", "]", "!", "#", "é")+"_", "text\n")
					put(t, root, folder+chosen(r, 1+r.IntN(2), "a", "b", "c")+".go", "text\n")
				}
			}
			texts := map[string]string{".git/info/exclude": patterns(r), ".gitignore": patterns(r), folders[r.IntN(len(folders))] + ".gitignore": patterns(r)}
			for file, text := range texts {
				put(t, root, file, text)
			}
			if asGit(t, root); t.Failed() {
				t.Logf("%q", texts)
			}
		})
	}
}

// patterns are some random ones, which match often.
func patterns(r *rand.Rand) (text string) {
	for range r.IntN(6) {
		text += chosen(r, r.IntN(2), "!", "!", "/", "**/", "!/", "*", "\\") +
			chosen(r, 1+r.IntN(4), "a", "b", "a", "b", "B", "foo", "*", "**", "?", "/", "[ab]", "[!a]", "[A-Z]", "[[:lower:]]", "[", "]", "\\", "-", "_", ".go", " ", "#", "é", "/**/", "/*/") +
			chosen(r, r.IntN(2), "/", "/**", " ", "*", "\r", "_", ".go") + "\n"
	}
	return text
}

// chosen are some of the parts.
func chosen(r *rand.Rand, n int, parts ...string) (text string) {
	for range n {
		text += parts[r.IntN(len(parts))]
	}
	return text
}
