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

// TestFunctionsAreCutWithoutTheirBodies as with them: where gofmt was not used, and where
// a body has a line that looks like its end, too.
func TestFunctionsAreCutWithoutTheirBodies(t *testing.T) {
	sources := []string{
		"package p\n\n// a does.\nfunc a() {\n\tb()\n}\n\nfunc b() {\n}\n\ntype T struct{}\n",
		"package p\n\nfunc a() {\n\tb(`\n}\n`)\n}\n\nfunc b() {}\n",
		"package p\n\nfunc a() {\n\tb(`func c() {\n}\n\nfunc d() {\n}\n`)\n}\n\nvar v = 1\n",
		"package p\n\nfunc a() {\n\tb()\n} // the end\n\nfunc b() {\n}\n",
		"package p\n\nfunc a() {\n\tb()\n  }\nfunc b() {\n}\nconst c = 1\n",
		"package p\n\nfunc a() {\r\n\tb()\r\n}\r\n\r\nfunc b() {\r\n}\r\n",
		"package p\n\nfunc a() {\nouter:\n\tfor {\n\t\tbreak outer\n\t}\n}\n\nfunc (t *T) b(\n\tx int,\n) {\n}",
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
	if n := len(withoutBodies([]byte(sources[0]))); n != len(sources[0])-len("\tb()") {
		t.Errorf("%d bytes are left", n)
	}
}

// TestLineDirectivesMoveNothing: generated code names the lines that it comes from.
func TestLineDirectivesMoveNothing(t *testing.T) {
	chunks := Of("Go", []byte("package p\n\n//line parse.y:5000\nfunc parse() {\n}\n"))
	if len(chunks) == 0 || !slices.Equal(chunks[len(chunks)-1].Definitions, []Definition{{Name: "parse", Line: 4}}) {
		t.Errorf("%+v", chunks)
	}
}
