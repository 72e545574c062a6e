package chunk

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestDeclarationsAreCutWithoutTheirBodies as with them: where gofmt was not used, and where
// a body has a line that looks like its end, too.
func TestDeclarationsAreCutWithoutTheirBodies(t *testing.T) {
	sources := []string{
		"package p\n\n// a does.\nfunc a() {\n\tb()\n}\n\nfunc b() {\n}\n\ntype T struct{}\n",
		"package p\n\nfunc a() {\n\tb(`\n}\n`)\n}\n\nfunc b() {}\n",
		"package p\n\nfunc a() {\n\tb(`func c() {\n}\n\nfunc d() {\n}\n`)\n}\n\nvar v = 1\n",
		"package p\n\nfunc a() {\n\tb()\n} // the end\n\nfunc b() {\n}\n",
		"package p\n\nfunc a() {\n\tb()\n  }\nfunc b() {\n}\nconst c = 1\n",
		"package p\n\nfunc a() {\r\n\tb()\r\n}\r\n\r\nfunc b() {\r\n}\r\n",
		"package p\n\nfunc a() {\nouter:\n\tfor {\n\t\tbreak outer\n\t}\n}\n\nfunc (t *T) b(\n\tx int,\n) {\n}",
		"package p\n\nvar table = []T{\n\t{1},\n}\n\n// T is.\ntype T struct {\n\ta int\n}\n\ntype I interface {\n\tm()\n}\n",
		"package p\n\nvar table = []T{{\n\ta: 1,\n}}\n\nvar t, u = T{\n}, T{\n}\n\nvar f = func() {\n\tvar v = 1\n}\n",
		"package p\n\nvar text = `{\n}\n` + `type T struct {\n}\n`\n\nvar other = `{\n`\n\ntype T struct {\n}\n",
		"package p\n\ntype (\n\tT struct {\n\t\ta int\n\t}\n)\n\nvar (\n\tt = T{\n\t}\n\tu = 1\n)\n",
	}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		sources = append(sources, string(src))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range sources {
		want, ok := parsed([]byte(src))
		if got, parses := goCuts([]byte(src)); !ok || !parses || !reflect.DeepEqual(got, want) {
			t.Errorf("%t, %+v; whole: %t, %+v:\n%s", parses, got, ok, want, src)
		}
	}
	for i, left := range map[int]string{0: "\tb()", 7: "\t{1},\ta int\tm()"} {
		if n := len(withoutBodies([]byte(sources[i]))); n != len(sources[i])-len(left) {
			t.Errorf("%d bytes are left of\n%s", n, sources[i])
		}
	}
}

// TestLineDirectivesMoveNothing: generated code names the lines that it comes from.
func TestLineDirectivesMoveNothing(t *testing.T) {
	chunks := Of("Go", []byte("package p\n\n//line parse.y:5000\nfunc parse() {\n}\n"))
	if len(chunks) == 0 || !slices.Equal(chunks[len(chunks)-1].Definitions, []Definition{{Name: "parse", Line: 4}}) {
		t.Errorf("%+v", chunks)
	}
}
