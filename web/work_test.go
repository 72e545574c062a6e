package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// workTools are the tools of tasks and of code, with what they declare of their fields.
func workTools() http.HandlerFunc {
	fields := object{"output": object{"status": object{"show": "state"}, "id": object{"label": "Task"}, "blocked_by": object{"label": "Blocked by"}, "blocked_because": object{"label": "Reason"}, "match_snippet": object{"show": "code"}, "text": object{"show": "code"}}}
	one := func(name, kind, server string) object {
		return object{"name": name, "title": name, "kind": kind, "server": server, "fields": fields}
	}
	tools := []object{one("list_tasks", "list", "tasks"), one("search_code", "list", "codesearch"), one("get_file_lines", "read", "codesearch")}
	return answer(http.StatusOK, object{"tools": tools, "servers": []object{}, "model": "rehearsal"})
}

// listedTasks is a page of four tasks of nine.
func listedTasks() object {
	row := func(id int, title, status string) object {
		return object{"id": id, "title": title, "status": status, "priority": "high", "blocked_by": []int{}}
	}
	items := []object{row(1, "Ship <b>it</b>", "done"), row(2, "Seal cursors", "in_progress"), row(3, "Read the log", "todo"), row(4, "Write it down", "todo")}
	items[3]["blocked_by"], items[3]["blocked_because"] = []int{3, 77}, "Someone is away"
	return object{"type": "tool", "state": "complete", "tool": "list_tasks", "server": "tasks", "message": "Listed",
		"data": object{"total_count": 9, "returned_count": 4, "limit": 4, "offset": 0, "items": items}}
}

// foundCode is a place with an address of the web, and one whose address is none.
func foundCode() object {
	match := func(path, address string) object {
		return object{"repository": "countersign", "file_path": path, "start_line": 41, "end_line": 43, "symbol": "seal", "relevance_score": 0.9,
			"match_snippet": "// seal <b>encrypts</b>.\nfunc seal(text string) []byte {\n\treturn append(nil, \"x\"...) // 1", "metadata": object{"language": "Go", "web_url": address}}
	}
	rows := []object{match("seal.go", "https://git.example.com/x/y/-/blob/c/seal.go#L41-43"), match("other.go", "javascript:alert(1)")}
	rows[1]["end_line"], rows[1]["snippet_line"] = 90, 60
	return object{"type": "tool", "state": "complete", "tool": "search_code", "server": "codesearch", "args": object{"query": "seal"}, "message": "Searched",
		"data": object{"status": "success", "data": rows, "metadata": object{"hasMore": false, "returnedCount": 2}}}
}

// Tasks are a board, too: a column for each state that the tool declares, whose cards
// lead to their rows.
func TestTasksAreABoard(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", workTools())
	g.on("POST /api/query", turn(listedTasks(), object{"type": "text", "text": "There are 9 tasks."}))
	p.Open(g.URL)
	p.ask("Which tasks are there?")
	p.Sees("[data-result=list_tasks] thead", "Blocked by")
	if got := eval[string](p, `[...document.querySelectorAll("[data-result=list_tasks] thead th")].map((n) => n.innerText.trim()).slice(0, 3).join(", ")`); got != "Title, Blocked by, Reason" {
		t.Errorf("the table begins with %s", got)
	}
	p.Click("[data-view=board]")
	p.Sees("[data-lane=todo] h4", "Todo (2)")
	p.Sees("[data-lane=done] li", "Ship <b>it</b>")
	if got := eval[string](p, `document.querySelector("[data-lane=todo] li:nth-child(2) dl").textContent`); !strings.Contains(got, "Blocked by3 Read the log, 77ReasonSomeone is away") {
		t.Errorf("the card of a blocked task says %s", got)
	}
	if wraps := eval[bool](p, `[...document.querySelectorAll(".lane dt")].some((n) => { const all = document.createRange(); all.selectNodeContents(n); return all.getClientRects().length > 1; })`); wraps {
		t.Error("a label is in two lines")
	}
	p.Sees("[data-board-incomplete]", "4 of 9, incomplete")
	if got := eval[[]string](p, `[...document.querySelectorAll("[data-lane]")].map(n => n.dataset.lane)`); strings.Join(got, " ") != "todo in_progress done" {
		t.Errorf("the columns are %v", got)
	}
	p.Looks("board")
	p.Click("[data-lane=in_progress] [data-card-row]")
	p.Sees("[data-row-details] [data-field=title]", "Seal cursors")
	p.Misses("[data-board]")
	last := module[string](p, "views/board.js", `const { Table } = await import("/table.js"); return m.boardOf(new Table({ tool: "x", fields: { state: { show: "state" } }, answer: { rows: [{ state: "todo" }, { state: "done" }], more: false, total: 59 } }))().at(-1)?.textContent ?? ""`, nil)
	if last != "Drawn from 2 of 59, incomplete." {
		t.Errorf("the board of the last page alone says %q", last)
	}
}

// Code is shown with its line numbers and its file, and more of the file is one step
// away; an address that is none of the web is no link.
func TestCodeIsDrawnWithItsLines(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", workTools())
	g.on("POST /api/query", turn(foundCode(), object{"type": "text", "text": "Two places."}))
	g.on("POST /api/mcp/{server}/{tool}", g.hears(answer(http.StatusOK, object{"status": "success", "data": object{"repository": "countersign", "file_path": "seal.go", "start_line": 39, "end_line": 44, "total_lines": 90,
		"text": "package x\n\n// seal\nfunc seal() {\n}\n", "metadata": object{"language": "Go"}}})))
	p.Open(g.URL)
	p.ask("Show me seal")
	p.Sees("[data-place='seal.go:41'] figcaption a", "seal.go:41–43")
	p.Sees("[data-place='seal.go:41'] .line[data-line='41'] .comment", "// seal <b>encrypts</b>.")
	p.Sees("[data-place='seal.go:41'] .line[data-line='42'] .keyword", "func")
	p.Sees("[data-place='seal.go:41'] .line[data-line='43'] .string", `"x"`)
	p.Misses("[data-place='other.go:41'] a")
	p.Sees("[data-place='other.go:41'] .line[data-line='61'] .keyword", "func")
	p.Looks("code")
	p.Click("[data-place='seal.go:41'] [data-more-lines]")
	p.Sees("[data-place='seal.go:41'] .line[data-line='39']", "package x")
	p.Sees("[data-place='seal.go:41'] .line[data-match][data-line='42']", "func seal()")
	if got := g.said(); len(got) != 1 || !strings.Contains(got[0], `POST /api/mcp/codesearch/get_file_lines`) || !strings.Contains(got[0], `"start_line":1`) || !strings.Contains(got[0], `"end_line":83`) {
		t.Errorf("got %q", got)
	}
	whole := module[string](p, "highlight.js", `return JSON.stringify([m.tokensOf(arg, "Python"), m.tokensOf("a /* b\nc */ 'd", "Go")])`, "x = 1 # one\ny = '#'")
	if want := `[[[["","x = "],["number","1"],[""," "],["comment","# one"]],[["","y = "],["string","'#'"]]],[[["","a "],["comment","/* b"]],[["comment","c */"],[""," 'd"]]]]`; whole != want {
		t.Errorf("got %s", whole)
	}
}

// More of a file opens at the place that was found, not at the lines before it.
func TestMoreOfAFileOpensAtThePlace(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", workTools())
	g.on("POST /api/query", turn(foundCode(), object{"type": "text", "text": "Two places."}))
	g.on("POST /api/mcp/{server}/{tool}", answer(http.StatusOK, object{"status": "success", "data": object{"repository": "countersign", "file_path": "seal.go", "start_line": 1, "end_line": 83, "total_lines": 90,
		"text": strings.Repeat("// a line\n", 83), "metadata": object{"language": "Go"}}}))
	p.Open(g.URL)
	p.ask("Show me seal")
	p.Sees("[data-turn=done] [data-place='seal.go:41'] .line[data-line='41']", "seal")
	p.Click("[data-place='seal.go:41'] [data-more-lines]")
	p.Sees("[data-place='seal.go:41'] .line[data-line='83']", "a line")
	p.Until(`(() => {
		const line = document.querySelector("[data-place='seal.go:41'] .line[data-match]");
		const [box, view] = [line, line.closest("pre")].map((n) => n.getBoundingClientRect());
		return box.top >= Math.max(0, view.top) && box.bottom <= Math.min(innerHeight, view.bottom);
	})()`)
}

// Lines before a place that are too long do not take its room, and what is left out of it is said.
func TestMoreOfAFileWithLongLinesShowsThePlace(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", workTools())
	g.on("POST /api/query", turn(foundCode(), object{"type": "text", "text": "Two places."}))
	g.on("POST /api/mcp/{server}/{tool}", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			From int `json:"start_line"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		answer(http.StatusOK, object{"status": "success", "data": object{"repository": "countersign", "file_path": "seal.go", "start_line": asked.From, "end_line": asked.From + 1, "total_lines": 90,
			"text": "// long\n// line\n", "metadata": object{"language": "Go"}}})(w, r)
	})
	p.Open(g.URL)
	p.ask("Show me seal")
	p.Sees("[data-turn=done] [data-place='seal.go:41'] .line[data-line='41']", "seal")
	p.Click("[data-place='seal.go:41'] [data-more-lines]")
	p.Sees("[data-place='seal.go:41'] .line[data-match][data-line='42']", "line")
	p.Sees("[data-place='seal.go:41'] .problem", "It goes on")
}

// One place that was found is drawn like several: its code is not in the words.
func TestOnePlaceIsDrawnAsCode(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", workTools())
	one := foundCode()
	one["data"].(object)["data"] = one["data"].(object)["data"].([]object)[:1]
	g.on("POST /api/query", turn(one, object{"type": "text", "text": "I found 1 place: countersign (seal.go, seal)"}))
	p.Open(g.URL)
	p.ask("Show me seal")
	p.Sees("[data-turn=done] [data-place='seal.go:41'] .line[data-line='42'] .keyword", "func")
}
