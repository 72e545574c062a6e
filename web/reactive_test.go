package web_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/web"
)

// The core is tested by itself, on a page that nothing else draws.
func TestReactiveCore(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"an effect runs once for many changes, with values that fit": {`
			const a = m.signal(1), b = m.signal(1), sum = m.computed(() => a.value + b.value), seen = [];
			m.effect(() => seen.push(a.value + "+" + b.value + "=" + sum.value));
			a.value = 2; b.value = 3; m.flush(); m.flush();
			return seen`, []string{"1+1=2", "2+3=5"}},
		"a derived value is computed when it is read, once": {`
			let runs = 0; const a = m.signal(1), d = m.computed(() => { runs++; return a.value * 2 });
			const before = String(runs); d.value; d.value; a.value = 2; a.value = 3;
			return [before, String(runs), String(d.value), String(runs)]`, []string{"0", "1", "6", "2"}},
		"what is no longer read does not run it": {`
			const on = m.signal(true), a = m.signal("a"), seen = [];
			m.effect(() => seen.push(on.value ? a.value : "off"));
			on.value = false; m.flush(); a.value = "b"; m.flush();
			return seen`, []string{"a", "off"}},
		"the same value changes nothing": {`
			const a = m.signal(1), seen = []; m.effect(() => seen.push(String(a.value))); a.value = 1; m.flush(); return seen`, []string{"1"}},
		"effects end with the run that made them, and with their scope": {`
			const a = m.signal(1), b = m.signal(1), seen = [];
			const { dispose } = m.scope(() => m.effect(() => { const n = a.value; m.effect(() => seen.push(n + ":" + b.value)); m.onDispose(() => seen.push("end " + n)); }));
			a.value = 2; m.flush(); b.value = 2; m.flush(); dispose(); a.value = 3; b.value = 3; m.flush();
			return seen`, []string{"1:1", "end 1", "2:1", "2:2", "end 2"}},
		"untracked reads do not depend": {`
			const a = m.signal(1), seen = []; m.effect(() => seen.push(String(m.untracked(() => a.value)))); a.value = 2; m.flush(); return seen`, []string{"1"}},
		"a cycle is an error, and the page goes on": {`
			const a = m.signal(1), b = m.signal(1), seen = [];
			const end = m.effect(() => { if (a.value < 1e6) a.value = a.peek() + 1; });
			try { m.flush() } catch (e) { seen.push(e.message) }
			end(); m.effect(() => seen.push(String(b.value))); b.value = 2; m.flush();
			return seen`, []string{"an effect changes what it reads", "1", "2"}},
		"a keyed list keeps its nodes, in order, and its focus": {`
			const items = m.signal(["a", "b", "c"]), ul = document.createElement("ul"); document.body.append(ul);
			const made = [];
			m.list(ul, () => items.value, (x) => x, (x) => { made.push(x()); const n = document.createElement("button"); n.textContent = x(); return n });
			const b = ul.children[1]; b.focus();
			items.value = ["d", "b", "a"]; m.flush();
			const out = [[...ul.children].map((n) => n.textContent).join(""), String(ul.children[1] === b), String(document.activeElement === b), made.join("")];
			ul.remove(); return out`, []string{"dba", "true", "true", "abcd"}},
	} {
		got := module[[]string](p, "reactive.js", c.body, nil)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReactiveCoreIsSmall(t *testing.T) {
	text, err := fs.ReadFile(web.Files, "reactive.js")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 250 {
		t.Errorf("the reactive core has %d lines, want at most 250", lines)
	}
}

// Files of the page stay readable.
func TestModulesAreSmall(t *testing.T) {
	_ = fs.WalkDir(web.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if text, _ := fs.ReadFile(web.Files, name); strings.HasSuffix(name, ".js") && strings.Count(string(text), "\n") > 400 {
			t.Errorf("%s has more than 400 lines", name)
		}
		return err
	})
}
