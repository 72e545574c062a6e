package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/words"
	"countersign.dev/internal/testkit"
)

func TestSearchFindsPartsOfWords(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "Read the file", FileReferences: []string{"internal/config/config.go"}})
	made(t, w, NewTask{Title: "An \"odd\" title AND NOT (x", Description: text("a fig tree")})
	made(t, w, NewTask{Title: "Fold", FileReferences: []string{"R&D/plan<1>.txt", "b.txt"}})
	for term, want := range map[string]string{
		"fig.go": `"internal/config/con**fig.go**"`, "FIG tree": "a **fig** **tree**", "go": `"internal/config/config.**go**"`, `"odd"`: `An **"odd"** title AND NOT (x`,
		"AND NOT": `An "odd" title **AND** **NOT** (x`, "plan": `"R&D/**plan**<1>.txt","b.txt"`, "none": "", "% _": "",
	} {
		found, total, _, err := w.SearchTasks(t.Context(), term, Page{Limit: 10})
		if err != nil || total != len(found) || want == "" && total != 0 || want != "" && (total != 1 || found[0].Snippet != want) {
			t.Errorf("%s: got %+v, %d, %v, want %s", term, found, total, err, want)
		}
	}
}

// TestSearchPutsTheBestFirst: before what is newer; of equal ones the newest.
func TestSearchPutsTheBestFirst(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "cursors, cursors"})
	for range 2 {
		made(t, w, NewTask{Title: "another", Description: text(strings.Repeat("many words before it ", 40) + "cursors")})
	}
	var got []int64
	found, _, _, err := w.SearchTasks(t.Context(), "cursors", Page{Limit: 10})
	for _, task := range found {
		got = append(got, task.ID)
	}
	if err != nil || !slices.Equal(got, []int64{1, 3, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	if first, n, _, err := w.SearchTasks(t.Context(), "cursors", Page{Limit: 1}); err != nil || n != 3 || len(first) != 1 || first[0].ID != 1 {
		t.Errorf("the first page: got %+v of %d, %v", first, n, err)
	}
	for _, kind := range []string{"file", "other"} {
		if _, err := w.CreateEntity(t.Context(), NewEntity{Type: kind, Name: "cursors of " + kind, CreatedBy: "tester"}); err != nil {
			t.Fatal(err)
		}
	}
	if found, n, _, err := w.SearchEntities(t.Context(), "cursors", "other", Page{Limit: 10}); err != nil || n != 1 || len(found) != 1 || found[0].Type != "other" {
		t.Errorf("of a type: got %+v, %d, %v", found, n, err)
	}
}

// TestSearchRanks: what is in the title comes before what is elsewhere, a whole word
// before a part of one, a row with all words in its title before one with some of
// them there, and a rare word in the title before a frequent one.
func TestSearchRanks(t *testing.T) {
	w := opened(t)
	for _, n := range []NewTask{
		{Title: "cursor"}, {Title: "cursors"}, {Title: "precursor"},
		{Title: "a", Description: text("of the cursor")}, {Title: "b", Description: text("of the cursors")}, {Title: "c", FileReferences: []string{"list/cursor.go"}},
		{Title: "ropes", Description: text("knots")}, {Title: "d", Description: text("of rope and of a knot")},
		{Title: "deadlock", Description: text("seen in the pool")}, {Title: "pool", Description: text("a deadlock")}, {Title: "a pool and its deadlock"}, {Title: "pool of words"}, {Title: "another pool"},
	} {
		made(t, w, n)
	}
	for term, want := range map[string][]string{
		"cursor": {"cursor", "precursor", "cursors", "c", "a", "b"}, "pool deadlock": {"a pool and its deadlock", "deadlock", "pool"}, "cursor.go": {"c"}, "LIST/cur": {"c"},
		"curs": {"precursor", "cursors", "cursor", "c", "b", "a"}, "rope knot": {"d", "ropes"}, "cu": nil, "++ & 'pool'": {"another pool", "pool of words", "a pool and its deadlock", "pool", "deadlock"},
	} {
		wantFound(t, w, term, want...)
	}
}

// TestSearchFallsBackToAnyWord: first what has all words, else what has any, the more
// of them the earlier; a word that no task has is found by its other forms.
func TestSearchFallsBackToAnyWord(t *testing.T) {
	w := opened(t)
	for _, n := range []NewTask{
		{Title: "Load test", Description: text("of spring")}, {Title: "Tests of the pump"},
		{Title: "Interview two candidates"}, {Title: "Log in by mail", Description: text("a login")}, {Title: "Hire a designer"}, {Title: "Interview notes", Description: text("for the candidates of spring")},
	} {
		made(t, w, n)
	}
	for term, want := range map[string][]string{
		"interviews": {"Interview notes", "Interview two candidates"}, "logins": {"Log in by mail"}, "hiring": {"Hire a designer"}, "interviews candidate": {"Interview two candidates", "Interview notes"},
		"hiring interview": {"Hire a designer", "Interview notes", "Interview two candidates"}, "zebra interview spring": {"Interview notes", "Interview two candidates", "Load test"}, "zebra lion": nil, "load tests": {"Load test"}, "tests": {"Tests of the pump"},
	} {
		wantFound(t, w, term, want...)
		_, _, some, err := w.SearchTasks(t.Context(), term, Page{Limit: 1, Offset: 1})
		if wantSome := term == "hiring interview" || term == "zebra interview spring"; err != nil || some != wantSome {
			t.Errorf("%s: has some words only: %v, %v", term, some, err)
		}
	}
	if found, _, _, err := w.SearchTasks(t.Context(), "hiring interview", Page{Limit: 1}); err != nil || found[0].Snippet != "**Hire** a designer" {
		t.Errorf("got %+v, %v", found, err)
	}
}

// TestManyWordsAreRankedByTheRarest: as many as rank in time.
func TestManyWordsAreRankedByTheRarest(t *testing.T) {
	w := opened(t)
	var term []string
	for i := range fewWords + 2 {
		word := fmt.Sprintf("word%c", 'a'+i)
		term = append(term, word)
		for range i { // each word in more tasks than the one before it
			made(t, w, NewTask{Title: "filler", Description: text(word)})
		}
	}
	made(t, w, NewTask{Title: "rare", Description: text(term[0])})
	made(t, w, NewTask{Title: "frequent", Description: text(term[fewWords] + " " + term[fewWords+1])})
	found, _, some, err := w.SearchTasks(t.Context(), strings.Join(term, " "), Page{Limit: 1})
	if err != nil || !some || found[0].Title != "rare" {
		t.Errorf("first of those with any word: %+v, %v, %v", found, some, err)
	}
}

func wantFound(t *testing.T, w *Workspace, term string, want ...string) {
	t.Helper()
	found, total, _, err := w.SearchTasks(t.Context(), term, Page{Limit: 100})
	var got []string
	for _, task := range found {
		got = append(got, task.Title)
	}
	if err != nil || total != len(want) || !slices.Equal(got, want) {
		t.Errorf("%s: got %q, %d, %v, want %q", term, got, total, err, want)
	}
}

// TestWordsOfOtherScripts: capitals and small letters are alike, and a script without
// spaces is found by any of its characters in a row.
func TestWordsOfOtherScripts(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "ÄRGER mit Größen"})
	made(t, w, NewTask{Title: "検索を速くする"})
	for term, want := range map[string][]string{"ärger": {"ÄRGER mit Größen"}, "RÖSS": nil, "RÖßE": {"ÄRGER mit Größen"}, "索を": {"検索を速くする"}, "を索": nil, "速": {"検索を速くする"}} {
		wantFound(t, w, term, want...)
	}
}

// An oracle of searches, which reads every text.

var run = regexp.MustCompile(`[\p{L}\p{N}]+`)

// readTask is a task with the words of its texts, of which the first is the title.
type readTask struct {
	record.Task
	texts  [3][]string
	linked [][]string // those of the entities that it is linked to
}

func readWords(text string) []string { return run.FindAllString(strings.ToLower(text), -1) }

// has reports whether a text has the pieces of a word in a row, and whether it has
// them as whole words.
func has(words, pieces []string) (some, exact bool) {
	last := len(pieces) - 1
	for at := 0; at+last < len(words); at++ {
		in, same := true, true
		for i, piece := range pieces {
			word := words[at+i]
			part := word == piece
			switch long := len(piece) >= 3; {
			case last == 0:
				part = part || long && strings.Contains(word, piece)
			case i == 0:
				part = part || long && strings.HasSuffix(word, piece)
			case i == last:
				part = part || long && strings.HasPrefix(word, piece)
			}
			in, same = in && part, same && word == piece
		}
		some, exact = some || in, exact || same
	}
	return some, exact
}

// pointsFor are what the tasks that have a word get for it.
func pointsFor(all []readTask, pieces []string) map[int64]float64 {
	points := map[int64]float64{}
	for _, task := range all {
		inTitle, exactly := has(task.texts[0], pieces)
		some := inTitle
		for _, text := range task.texts[1:] {
			in, whole := has(text, pieces)
			some, exactly = some || in, exactly || whole
		}
		for _, text := range task.linked {
			in, _ := has(text, pieces)
			some = some || in
		}
		if some {
			points[task.ID] = map[bool]float64{true: 2}[inTitle] + map[bool]float64{true: 1}[exactly]
		}
	}
	return points
}

// expected are the numbers of the tasks that a search must find, in its order.
func expected(all []readTask, term string) []int64 {
	ids, complete := scored(all, term, false)
	if !complete {
		ids, _ = scored(all, term, true)
	}
	return ids
}

// scored are those that have the words, or forms that these begin with, and whether any has all of them.
func scored(all []readTask, term string, forms bool) (ids []int64, complete bool) {
	terms := slices.DeleteFunc(strings.Fields(strings.ToLower(term)), func(word string) bool { return !run.MatchString(word) })
	scores, times, hits, most := map[int64]float64{}, map[int64]time.Time{}, map[int64]int{}, 0
	for _, word := range terms {
		pieces := readWords(word)
		points := pointsFor(all, pieces)
		if form := words.Form(pieces[0]); (len(points) == 0 || forms && strings.HasPrefix(pieces[0], form)) && len(pieces) == 1 && form != "" {
			points = pointsFor(all, []string{form})
		}
		for id, n := range points {
			scores[id] += n * math.Log(1+4000/float64(1+len(points)))
			hits[id]++
			most = max(most, hits[id])
		}
	}
	for _, task := range all {
		if times[task.ID] = task.CreatedAt; hits[task.ID] > 0 && (most < len(terms) || hits[task.ID] == most) {
			ids = append(ids, task.ID)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int {
		if d := scores[b] - scores[a]; hits[a] == hits[b] && math.Abs(d) > 1e-9 {
			return cmp.Compare(d, 0)
		}
		return cmp.Or(hits[b]-hits[a], times[b].Compare(times[a]), cmp.Compare(b, a))
	})
	return ids, most == len(terms)
}

// texts of random words, of which some begin or end alike and some are parts of others.
var someWords = []string{"search", "research", "searches", "searching", "config", "reconfig", "configs", "go", "gone", "cargo", "ui", "a", "error", "errors", "x1", "file", "profile", "port", "import", "report"}

func sentence(r *rand.Rand, n int) string {
	words := make([]string, r.IntN(n)+1)
	for i := range words {
		switch words[i] = someWords[r.IntN(len(someWords))]; r.IntN(6) {
		case 0:
			words[i] = fmt.Sprint("file", r.IntN(300))
		case 1:
			words[i] += []string{".", "/", "-", "_"}[r.IntN(4)] + someWords[r.IntN(len(someWords))]
		case 2:
			words[i] = strings.ToUpper(words[i]) + ","
		}
	}
	return strings.Join(words, " ")
}

// TestSearchAgreesWithReadingEveryText compares random searches with the oracle, while
// tasks change, go and come back, some of them with a time before the last one.
func TestSearchAgreesWithReadingEveryText(t *testing.T) {
	testkit.Alone(t)
	r := rand.New(rand.NewPCG(4, 13))
	for _, ordered := range []bool{true, false} {
		w := opened(t)
		started := time.Now().Add(-time.Hour)
		for i := range 250 {
			at := started.Add(time.Duration(i/3) * time.Second)
			if !ordered {
				at = started.Add(time.Duration(r.IntN(100)) * time.Second)
			}
			made(t, w, NewTask{Title: sentence(r, 4), Description: text(sentence(r, 30)), FileReferences: strings.Fields(sentence(r, 3)), At: at})
		}
		wantNewest(t, w, "tasks", newestRows-1)
		agrees(t, w, r, 100)
		for range 120 {
			id := int64(1 + r.IntN(250))
			switch r.IntN(4) {
			case 0:
				_, _ = w.DeleteTask(t.Context(), id, false)
			case 1:
				_, _ = w.UndeleteTask(t.Context(), id, false)
			case 2:
				_, _ = w.UpdateTask(t.Context(), id, TaskUpdate{Title: text(sentence(r, 4)), Description: Field[string]{true, text(sentence(r, 20))}})
			case 3:
				_ = w.Change(t.Context(), func(ctx context.Context) error { return w.Purge(ctx, []int64{id}) })
			}
		}
		agrees(t, w, r, 100)
		for range 2 * newestRows {
			_, _ = w.UpdateTask(t.Context(), int64(1+r.IntN(250)), TaskUpdate{Title: text(sentence(r, 4)), FileReferences: Field[[]string]{true, &[]string{sentence(r, 3)}}})
		}
		wantNewest(t, w, "tasks", newestRows-1)
		agrees(t, w, r, 100)
		if err := w.Change(t.Context(), w.indexAll); err != nil {
			t.Fatal(err)
		}
		wantNewest(t, w, "tasks", 0)
		agrees(t, w, r, 100)
		var empty int
		if err := w.In(t.Context()).QueryRowContext(t.Context(), "select count(*) from postings where anywhere is null").Scan(&empty); err != nil || empty != 0 {
			t.Errorf("%d words are kept that no task has, %v", empty, err)
		}
	}
}

// wantNewest checks that a search reads the texts of some rows at most.
func wantNewest(t *testing.T, w *Workspace, table string, most int) {
	t.Helper()
	made, err := w.made(t.Context(), table, math.MaxInt64)
	reworded, err2 := w.reworded(t.Context(), table)
	if n := len(made) + len(reworded); errors.Join(err, err2) != nil || n > most {
		t.Errorf("the words of %d %s are not written, %v, %v, want %d at most", n, table, err, err2, most)
	}
}

// TestEntitySearchesAgreeWithReadingEveryName: by a part of a name or an identifier and
// by type, the newest first where none is better, while entities change, go and come
// back.
func TestEntitySearchesAgreeWithReadingEveryName(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 13))
	w := opened(t)
	types := []string{"file", "other"}
	for range 3 * newestRows {
		if _, err := w.CreateEntity(t.Context(), NewEntity{Type: types[r.IntN(2)], Name: "an entity", Identifier: text(fmt.Sprint(someWords[r.IntN(len(someWords))], "/", r.IntN(1e6))), CreatedBy: "tester"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		id := int64(1 + r.IntN(3*newestRows))
		switch r.IntN(3) {
		case 0:
			_, _ = w.DeleteEntity(t.Context(), id)
		case 1:
			_, _ = w.UndeleteEntity(t.Context(), id)
		case 2:
			_, _ = w.UpdateEntity(t.Context(), id, EntityUpdate{Identifier: Field[string]{true, text(fmt.Sprint(someWords[r.IntN(len(someWords))], "/", r.IntN(1e6)))}})
		}
	}
	wantNewest(t, w, "entities", newestRows-1)
	all, _, err := w.Entities(t.Context(), "", nil, Page{Limit: 1000, Details: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range append(types, "") {
		for _, term := range []string{"sear", "port", "entity", "arch entity", "none"} {
			want, got := map[int64]bool{}, map[int64]bool{}
			for _, e := range all {
				text := e.Name + " " + *e.Identifier
				want[e.ID] = (kind == "" || e.Type == kind) && !slices.ContainsFunc(strings.Fields(term), func(word string) bool { return !strings.Contains(text, word) })
			}
			maps.DeleteFunc(want, func(_ int64, found bool) bool { return !found })
			found, total, _, err := w.SearchEntities(t.Context(), term, kind, Page{Limit: 1000})
			for _, e := range found {
				got[e.ID] = true
			}
			if err != nil || total != len(want) || !maps.Equal(got, want) {
				t.Errorf("%q of type %q: got %d, %v, want %d, %v", term, kind, total, err, len(want), want)
			}
		}
	}
}

// TestFrequentWordsAgreeWithReadingEveryText: also when the numbers of the tasks, which
// are in several spans, are no longer in the order of their times.
func TestFrequentWordsAgreeWithReadingEveryText(t *testing.T) {
	testkit.Alone(t)
	r := rand.New(rand.NewPCG(5, 13))
	w := opened(t)
	if err := w.Change(t.Context(), func(ctx context.Context) error {
		for i := range 4000 {
			if _, err := w.Exec(ctx, "insert into tasks (id, title, description, status, priority, created_by, created_at, updated_at, deleted_at) values (?, ?, ?, 'todo', 'low', 'a', ?, ?, iif(? % 9 = 0, 9000, null))",
				10*i, sentence(r, 4), sentence(r, 60), 1000+i/3, 1000+i, i); err != nil {
				return err
			}
		}
		return w.indexAll(ctx)
	}); err != nil {
		t.Fatal(err)
	}
	terms := []string{"search", "error", "config", "earch", "go", "ui", "a", "port", "xyz"}
	if rows, err := having(t, w, "arch", "con"); err != nil || rows <= fewRows {
		t.Fatalf("%d rows have both, %v", rows, err)
	}
	terms = append(terms, "arch/con", "search.go", "error-error", "port_import", "ui/a", "arch/go", "le/ui", "a/file12", "file12.search", "go/go/go")
	if found := agree(t, w, terms); found < 12_000 {
		t.Errorf("%d rows are too few to say much", found)
	}
	for i := range newestRows + 20 {
		if _, err := w.UpdateTask(t.Context(), int64(10+90*i), TaskUpdate{Title: text(sentence(r, 4)), Description: Field[string]{true, text("arch/con " + sentence(r, 30))}}); err != nil {
			t.Fatal(err)
		}
	}
	agree(t, w, terms)
	made(t, w, NewTask{Title: "search", Description: text("the oldest arch/con"), At: time.UnixMicro(10)})
	agree(t, w, terms)
}

// having is how many rows have some pieces, in whatever order.
func having(t *testing.T, w *Workspace, pieces ...string) (int, error) {
	t.Helper()
	x, err := w.openIndex(t.Context(), "tasks", "title")
	if err != nil {
		return 0, err
	}
	rows, err := x.having(t.Context(), pieces)
	return rows.Anywhere.Len(), err
}

// TestPathsOfEntities: the pieces of a path are found one after the other.
func TestPathsOfEntities(t *testing.T) {
	w := opened(t)
	for i := range 2 * newestRows {
		if _, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: fmt.Sprint("a ", i), Identifier: text(fmt.Sprintf("src/room%d/file%d.go", i%7, i)), CreatedBy: "tester"}); err != nil {
			t.Fatal(err)
		}
	}
	for term, want := range map[string]int{"src/room3": 18, "src/room3/file": 18, "rc/room3": 0, "room3/src": 0, "room/file": 0, "file127.go": 1, "src/roo": 128, "a-12": 1} {
		if _, n, _, err := w.SearchEntities(t.Context(), term, "", Page{Limit: 1}); err != nil || n != want {
			t.Errorf("%s: got %d, %v, want %d", term, n, err, want)
		}
	}
}

// TestTextsWithSeparators: a text that has the characters by which a search separates
// texts, as one that was written before they were refused, is searched as the others.
func TestTextsWithSeparators(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "config.go", Description: text("a" + betweenRows + "5" + betweenTexts + "b config.go" + betweenTexts)})
	agree(t, w, []string{"config.go", "fig.go", "5.b"})
}

// TestPiecesFollowOneAnother: in one text, in their order, whatever is between them.
func TestPiecesFollowOneAnother(t *testing.T) {
	w := opened(t)
	for _, title := range []string{"red green blue", "red blue blue green", "red, green", "infrared/green_blue", "green red blue"} {
		made(t, w, NewTask{Title: title, Description: text("blue"), FileReferences: []string{`C:\config\<go>`}})
	}
	agree(t, w, []string{"red/green/blue", "red/blue/blue", "red.green", "config.<go", "c:config", "blue.config"})
}

// TestPairsOfFiles: words that follow one another in files are found without reading a
// text, unless they may also be in the title, or whole in another place.
func TestPairsOfFiles(t *testing.T) {
	w := opened(t)
	for _, n := range []NewTask{
		{Title: "of red/green", FileReferences: []string{"red/green"}}, {Title: "b", FileReferences: []string{"a/red/green.go"}},
		{Title: "c", Description: text("red green"), FileReferences: []string{"red/greenish"}}, {Title: "d", FileReferences: []string{"red/greenish"}},
		{Title: "e", Description: text("red, green")}, {Title: "green", Description: text("red"), FileReferences: []string{"red/green"}},
		{Title: "g", FileReferences: []string{"red/blue", "green/x"}}, {Title: "h", FileReferences: []string{"red/green"}}, {Title: "i", FileReferences: []string{"infrared/green"}},
	} {
		if n.Description == nil {
			n.Description = text("")
		}
		made(t, w, n)
	}
	terms := []string{"red/green", "red/gree", "red.green", "ed/green", "red/green/go", "blue/green", "red/blue", "green/ish"}
	agree(t, w, terms)
	if err := w.Change(t.Context(), w.indexAll); err != nil {
		t.Fatal(err)
	}
	agree(t, w, terms)
	for _, files := range [][]string{{"red/blue"}, {"<red>/green"}} {
		if _, err := w.UpdateTask(t.Context(), 8, TaskUpdate{FileReferences: Field[[]string]{true, &files}}); err != nil {
			t.Fatal(err)
		}
		agree(t, w, terms)
		if err := w.Change(t.Context(), w.indexAll); err != nil {
			t.Fatal(err)
		}
		agree(t, w, terms)
	}
}

// agrees compares random searches with the oracle.
func agrees(t *testing.T, w *Workspace, r *rand.Rand, searches int) {
	t.Helper()
	terms := []string{"ile", "file", "file1", "le1", "ile2 search", "file le3", "search.go", "arch/con", "- ()", "*", `"`}
	for range searches {
		term := sentence(r, 3)
		if from := r.IntN(len(term)); r.IntN(2) == 0 {
			term = term[from : from+r.IntN(len(term)-from)+1]
		}
		terms = append(terms, term)
	}
	if found := agree(t, w, terms); found < 10*searches {
		t.Errorf("%d rows in %d searches are too few to say much", found, searches)
	}
}

// agree compares the pages of searches with the oracle, and returns how many rows they
// have in all.
func agree(t *testing.T, w *Workspace, terms []string) (found int) {
	t.Helper()
	tasks, _, err := w.Tasks(t.Context(), TaskFilter{}, Page{Limit: 10_000, Details: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []readTask
	for _, task := range tasks {
		read := readTask{Task: task, texts: [3][]string{readWords(task.Title), readWords(*task.Description), readWords(strings.Join(task.FileReferences, " "))}}
		linked, _, err := w.TaskEntities(t.Context(), task.ID, Page{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range linked {
			read.linked = append(read.linked, readWords(e.Name), readWords(*e.Identifier))
		}
		all = append(all, read)
	}
	for _, term := range terms {
		var got []int64
		want, total := expected(all, term), 0
		limit := max(40, len(want)/6)
		for offset := 0; offset <= len(want); offset += limit {
			page, n, _, err := w.SearchTasks(t.Context(), term, Page{Limit: limit, Offset: offset})
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range page {
				got = append(got, task.ID)
			}
			total = n
		}
		if found += len(want); total != len(want) || !slices.Equal(got, want) {
			t.Errorf("%q of %d tasks: got %d,\n%v, want\n%v", term, len(all), total, got, want)
		}
	}
	return found
}
