package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/result"
)

// draw renders markdown and gives the HTML of what was drawn.
const draw = `const d = document.createElement("div"); d.append(m.renderMarkdown(arg)); return d.innerHTML`

func TestMarkdownDrawsWhatItKnows(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	const rel = ` rel="noopener noreferrer" target="_blank"`
	for _, c := range []struct{ text, want string }{
		{"one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"},
		{"**bold** and *italic* and _too_ and __so__", "<p><strong>bold</strong> and <em>italic</em> and <em>too</em> and <strong>so</strong></p>"},
		{"employee_id and manager_id", "<p>employee_id and manager_id</p>"},
		{"2 * 3 * 4 = 24", "<p>2 * 3 * 4 = 24</p>"},
		{"`a < b` and ``x`` ", "<p><code>a &lt; b</code> and <code>x</code></p>"},
		{"```go\nif a < b {\n```\nafter", `<pre tabindex="0"><code>if a &lt; b {</code></pre><p>after</p>`},
		{"```\nnever closed", `<pre tabindex="0"><code>never closed</code></pre>`},
		{"# Title", `<p class="heading"><strong>Title</strong></p>`},
		{"- a\n- b\n  - c\n- d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"},
		{"3. c\n4. d", `<ol start="3"><li>c</li><li>d</li></ol>`},
		{"|a|b|\n|-|-|\n|1|", `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td></td></tr></tbody></table></div>`},
		{"|a|b|\n|-|\n|1|", "<p>|a|b|<br>|-|<br>|1|</p>"},
		{"[docs](https://example.com/x)", `<p><a href="https://example.com/x"` + rel + `>docs<span class="host"> (example.com)</span></a></p>`},
		{"see https://example.com/a.", `<p>see <span><a href="https://example.com/a"` + rel + `>https://example.com/a</a>.</span></p>`},
		{`\*not italic\*`, "<p>*not italic*</p>"},
		{"***", "<p>***</p>"},
	} {
		if got := module[string](p, "markdown.js", draw, c.text); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestTextOfDataIsNoLayout: what result.Markdown writes is drawn as the text that it was,
// wherever it is in an answer.
func TestTextOfDataIsNoLayout(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	texts := []string{
		"**bold** _em_ http://evil.example/x", "*a*", "__a__", "_a_ é_b_ c", "a_b_c", "snake_case and _ alone", "`code`", "```", "~~~ a", "# a", "###### a", "#", "- a", "-", "+ a", "* a", "1. a", "12) a", "7.",
		"[a](https://evil.example)", "![a](https://evil.example/x.png)", "mailto:a@b.c", "https://evil.example/a_b.", "<b>a</b>", "a|b", `\`, `\*a\*`, `C:\_x_`, "a*", "a**", "*", "-5", "2.5", "12:30", "#4 of 5",
	}
	const shape = `
		const d = document.createElement("div"); d.append(m.renderMarkdown(arg));
		return [[...d.querySelectorAll("*")].map((n) => n.tagName).join(" "), d.textContent]`
	for _, around := range [][2]string{{"", ""}, {"", " is"}, {"a ", " is"}, {"- ", ": 5"}, {"**", "**: 5"}, {"|a|\n|-|\n| ", " |"}} {
		plain := module[[2]string](p, "markdown.js", shape, around[0]+"TEXT"+around[1])
		for _, text := range texts {
			got := module[[2]string](p, "markdown.js", shape, around[0]+result.Markdown(text)+around[1])
			if want := strings.Replace(plain[1], "TEXT", text, 1); got[0] != plain[0] || got[1] != want {
				t.Errorf("%q within %q: got %s with %q, want %s with %q", text, around, got[0], got[1], plain[0], want)
			}
		}
	}
}

func TestHostileMarkdownStaysText(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	hostile := []string{
		`<script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`, `<svg/onload=window.pwned=1>`,
		`[x](javascript:window.pwned=1)`, `[x](JaVaScRiPt:window.pwned=1)`, "[x](java\tscript:window.pwned=1)", `[x](\u0001javascript:window.pwned=1)`,
		`[x](data:text/html,<script>window.pwned=1</script>)`, `[x](vbscript:x)`, `[x](//evil.example)`, `[x](blob:https://a/b)`,
		`![x](https://evil.example/pixel.png)`, `[x](https://a" onmouseover="window.pwned=1)`, `[<img src=x onerror=window.pwned=1>](https://a.example)`,
		"```html\n<script>window.pwned=1</script>\n```", "|<script>|b|\n|-|-|\n|<img src=x onerror=window.pwned=1>|x|",
		`**<iframe src="javascript:window.pwned=1">**`, `&lt;script&gt;`, `<a href="https://a" target=_top>x</a>`, "\u202e[x](https://a.example)\u0000",
	}
	g.on("POST /api/query", turn(object{"type": "text", "text": strings.Join(hostile, "\n\n")}))
	p.Open(g.URL)
	p.ask("Attack")
	p.Sees("[data-turn=done] [data-answer]", "<script>window.pwned=1</script>")
	p.Until(`!document.querySelector("[data-answer] :is(script, img, iframe, svg, object, embed, form, style, link)")`)
	if eval[bool](p, `"pwned" in window`) {
		t.Fatal("the page ran what an answer said")
	}
	const links = `[...document.querySelectorAll("[data-answer] a")].map(a => a.protocol + a.rel)`
	for _, got := range eval[[]string](p, links) {
		if got != "https:noopener noreferrer" {
			t.Errorf("an answer made the link %q", got)
		}
	}
}

// Whatever is strung together from these pieces, only known elements come out,
// no text is made up, and it takes no longer than its length.
func TestAnyMarkdownIsDrawnSafely(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	const property = `
		const pieces = ["*", "**", "_", "` + "`" + `", "` + "```" + `", "\n", "\n\n", "- ", "  - ", "1. ", "# ", "|", "|-|-|", "[", "](", ")", "(", "javascript:", "https://a.b", "<img src=x onerror=1>", "\\", " ", "a", "x y", "\r", "\u0000", "&amp;", "~~~", "!"];
		const allowed = new Set(["P","STRONG","EM","CODE","PRE","UL","OL","LI","TABLE","THEAD","TBODY","TR","TH","TD","A","SPAN","DIV","BR"]);
		const attributes = new Set(["href","rel","target","class","scope","start","tabindex","role","aria-label"]);
		let seed = 42;
		const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
		for (let i = 0; i < 4000; i++) {
			const text = Array.from({length: 1 + random(40)}, () => pieces[random(pieces.length)]).join("");
			const d = document.createElement("div");
			d.append(m.renderMarkdown(text));
			for (const n of d.querySelectorAll("*")) {
				if (!allowed.has(n.tagName)) return "element " + n.tagName + " from " + JSON.stringify(text);
				for (const a of n.attributes) if (!attributes.has(a.name)) return "attribute " + a.name + " from " + JSON.stringify(text);
				if (n.href !== undefined && !/^(https?|mailto):/.test(n.href)) return "link " + n.href;
			}
		}
		return ""`
	if got := module[string](p, "markdown.js", property, nil); got != "" {
		t.Error(got)
	}
}

func TestHugeMarkdownIsDrawnQuickly(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	const size = 99_000
	for _, piece := range []string{"*", "**a", "_a ", "[", "[a](", "`", "`a ", "> ", "- - ", "  - a\n", "|", "|a|\n|-|\n", "- ", "\n", "https://a", "!", " ", "https://a!!!!!!!!!!!!!!", "\\", "#", "-    x", "```\n", "[[a](b", "*\\*", "**\\*a", "_\\_a "} {
		text := strings.Repeat(piece, size/len(piece))
		var depth int
		took := time.Hour
		for tries := 3; tries > 0 && took > 5*time.Second; tries-- { // a busy machine is not slow every time
			began := time.Now()
			depth = module[int](p, "markdown.js", `
				const d = document.createElement("div"); d.append(m.renderMarkdown(arg));
				let depth = 0; for (const n of d.querySelectorAll("*")) { let k = 0; for (let e = n; e !== d; e = e.parentNode) k++; depth = Math.max(depth, k); if (k > 60) break; }
				return depth`, text)
			took = time.Since(began)
		}
		if took > 5*time.Second {
			t.Errorf("%q repeated took %v", piece, took)
		}
		if depth > 30 {
			t.Errorf("%q repeated nests %d deep", piece, depth)
		}
	}
}

// A stream says the same however the network cuts it.
func TestEventsDoNotDependOnTheirChunks(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	type event struct {
		ID    string `json:"id"`
		Event string `json:"event"`
		Data  string `json:"data"`
	}
	const text = "\ufeffid: 1\r\ndata: one\r\n\r\n: heartbeat\n\nid:2\ndata:{\"a\":\"ü𝒶\"}\n\nevent: x\rdata: two\rdata:  lines\r\rdata\n\nid\nretry: 5\nnonsense\ndata: last\n\ndata: unfinished"
	want := []event{{"1", "message", "one"}, {"2", "message", `{"a":"ü𝒶"}`}, {"", "x", "two\n lines"}, {"", "message", ""}, {"", "message", "last"}}
	const read = `
		const bytes = new TextEncoder().encode(arg.text);
		const stream = new ReadableStream({ start(c) { for (let i = 0; i < bytes.length; i += arg.size) c.enqueue(bytes.slice(i, i + arg.size)); c.close(); } });
		const events = []; for await (const e of m.parseEvents(stream)) events.push(e);
		return events`
	for size := 1; size <= len(text); size += 1 + size/7 {
		got := module[[]event](p, "sse.js", read, object{"text": text, "size": size})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in chunks of %d bytes (-want +got):\n%s", size, diff)
		}
	}
}

func TestSilentStreamIsGivenUp(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	const read = `
		const stream = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("data: one\n\n")); } });
		const events = [];
		try { for await (const e of m.parseEvents(stream, 50)) events.push(e.data); } catch (e) { events.push(e.message); }
		return events`
	got := module[[]string](p, "sse.js", read, nil)
	if diff := cmp.Diff([]string{"one", "the stream fell silent"}, got); diff != "" {
		t.Error(diff)
	}
}
