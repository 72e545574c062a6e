package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"countersign.dev/internal/testkit"
)

// retired lists identifiers that a standard term of the field replaced, by
// room. None of them may be declared there again: as a package-level name, a
// method or a field.
var retired = map[string][]string{
	"cmd/countersign":              {"desk", "said", "bearing", "edge", "heard", "place", "host", "ledger"},
	"internal/app":                 {"ground", "place", "host", "journal", "whole", "draws", "tellAll", "closing", "face"},
	"internal/client":              {"talk", "refusal"},
	"internal/auth":                {"verdict", "remote", "hop", "rig", "desk", "judge"},
	"internal/embedded":            {"home", "moved", "openHome", "victimDir"},
	"internal/embedded/issuer":     {"guard", "complaint"},
	"internal/testkit/oracle":      {"Judge", "Record", "judges"},
	"internal/testkit":             {"Journal", "Notebook", "NewNotebook", "RunAsVictim", "Wire", "NewWire", "burnCard", "burnFacts"},
	"internal/testkit/conformance": {"Facts", "judge"},
	"internal/conversation":        {"spoken"},
	"internal/testkit/domaintest":  {"House", "Journal"},
	"internal/testkit/dbtest":      {"House", "Furnish"},
	"internal/confirm":             {"Stamp", "Desk", "NewDesk", "Effect", "Won", "Left", "Taken", "Verdict", "Facts"},
	"internal/database":            {"Ledger", "NewLedger", "session", "sessionKey", "inTheWay", "outOfTheWay"},
	"internal/company":             {"Papers", "claim"},
	"internal/domain/hr":           {"askers", "judgeChart", "crowd", "deleteCard", "deleteFacts", "salaryCard", "salaryFacts", "judges", "span", "house", "furnish", "fingerprint"},
	"internal/domain/finance":      {"papers", "crowd", "approvalCard", "approvalFacts", "deletionCard", "deletionFacts", "errSameHands", "mostDollars", "house", "furnish", "fingerprint"},
	"internal/tool":                {"verdict", "Ledger", "Card", "Desk", "effect", "factsDigest", "said", "late", "guarded", "guardedSchema", "intend", "takeWindow"},
	"internal/audit":               {"mend", "hold", "Session"},
	"internal/result":              {"Wire", "Card"},
	"internal/access":              {"Guard", "Guarded", "HRRead", "HRWrite", "FinanceRead", "FinanceWrite", "SalesRead", "SalesWrite", "SupportRead", "SupportWrite", "Pay", "Phone", "Review", "Contact", "Caller"},
	"internal/domain/tasks":        {"cleanupFacts"},
	"internal/domain/sales":        {"book", "office", "SQLite", "OpenSQLite", "Mongo", "OpenMongo", "closingCard", "dealFacts", "deletionCard", "customerFacts", "rig", "office"},
	"internal/domain/support":      {"book", "office", "desk", "SQLite", "OpenSQLite", "Elastic", "OpenElastic", "shelf", "closingCard", "ticketFacts", "spoken", "rig", "office", "desk"},
	"internal/llm/rehearsal":       {"form", "mood", "guide", "span", "property", "english", "talk", "verdict", "hear", "spoken", "shelf", "house", "office", "building", "books", "paper"},
	"internal/agent":               {"guard", "guarding", "Unguard", "hintOf", "Guarded", "Patience", "partial", "openPage", "untold", "tellsIncomplete", "ending", "mayCall", "refusal", "whole", "standing", "patient", "said", "gone", "tell", "told"},
	"internal/state":               {"bells", "bellName", "listener", "attend", "ring", "lifeOf", "errNoLife"},
	"internal/gateway":             {"guard", "scribe", "archive", "turnOutcome", "hold", "held", "tell", "told", "heard", "remember", "mend", "closeOpen", "farewell", "forget", "noteSession", "admit", "leave", "Desk", "breakOff", "personal", "refuse", "refusal", "confirmSurface"},

	"internal/upstream":            {"courier", "peer", "newPeer", "remote", "shelf", "trip", "judge", "verdict", "tidy", "there", "failing", "unjudged", "directory", "merge", "era", "notebook", "journal"},
	"internal/upstream/mcpsession": {"take", "give", "hold", "spoken", "trip"},
	"internal/upstream/own":        {"courier", "trip", "spoken", "whole", "name", "note", "traced"},
	"internal/mcpserver":           {"modernEra", "era", "eras", "discreet", "speak", "speaking", "carry", "calledBy", "drawFault", "surface", "invite", "house", "office", "deed", "readyPatience"},
	"internal/admission":           {"tidy"},
	"internal/llm/blob":            {"spoken"},
	"internal/httpx":               {"Guard", "NewGuard", "Surface", "surface", "Front", "Note", "careful", "caught", "walker", "misfit", "ErrGone", "Gone", "headerPatience", "bodyPatience", "answerPatience", "idlePatience", "writePatience", "missed", "miss", "drained"},

	"internal/domain/support/elastic": {"complaint", "refusal", "unanswered"},
	"internal/domain/sales/sqlite":    {"SQLite", "filling"},
}

// archaic matches phrases that comments must not use.
// Comments are plain technical English: "returns", "is rejected", "no caller".
var archaic = regexp.MustCompile(`(?i)\b(whoever|whomever|nobody|stands|(?:is|are|was|were|be|been) told|bec(?:o|a)mes? of|condemns?|none the less|what (?:\w+ ){1,4}c[ao]mes? to|in vain|for ever|(?:any|every)body)\b`)

// oneSense lists words of declared names that had two meanings, each with the rooms
// in which it has the one that is left; elsewhere it is not declared at all. What is
// one of a limited number is a slot, what is left of a budget a space, where something
// is in an order a position.
var oneSense = map[string][]string{
	"place":   {"internal/domain/tasks", "internal/domain/tasks/workspace", "internal/storage", "internal/guard"},                                                                                  // a workspace's folder; where guard found a figure
	"claim":   {"internal/access", "internal/auth", "internal/audit", "internal/config", "internal/embedded/issuer"},                                                                               // of a token
	"origin":  {"internal/httpx", "internal/gate", "internal/gateway", "internal/app", "internal/config", "internal/session", "internal/mcpserver", "internal/embedded/issuer"},                    // of a web page
	"surface": {"internal/access", "internal/client/draw", "internal/conversation", "internal/gate", "internal/gateway/chat", "internal/mcpserver"},                                                // where a call began
	"turn":    {"internal/agent", "internal/audit", "internal/client", "internal/config", "internal/conversation", "internal/eval", "internal/live", "internal/quota"},                             // of a conversation
	"span":    {"internal/calendar", "internal/domain/sales", "internal/domain/tasks/rowset", "internal/domain/tasks/store", "internal/domain/tasks/words", "internal/guard", "internal/language"}, // of days; of row numbers, as the schema of the task store calls it
	"room":    nil,                                                                                                                                                                                 // a package, in documents and rule tests
}

// archaicNames are words of which no name has one, local names and tests included.
var archaicNames = []string{"scribe", "courier", "victim", "notebook", "furnish", "farewell", "heard", "told", "desk", "nobody", "whoever", "discreet", "shelf"}

func TestNamesArePlain(t *testing.T) {
	for room, files := range sources(t) {
		for file, parsed := range files {
			for _, name := range append(declared(parsed), locals(parsed)...) {
				for _, part := range parts.FindAllString(name, -1) {
					if slices.Contains(archaicNames, strings.ToLower(part)) {
						t.Errorf("%s/%s has the name %s: say it in plain technical English", room, file, name)
					}
				}
			}
		}
	}
}

// locals lists the names that functions of a file define, parameters included.
func locals(file *ast.File) (names []string) {
	add := func(all ...ast.Expr) {
		for _, one := range all {
			if name, ok := one.(*ast.Ident); ok {
				names = append(names, name.Name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			add(n.Key, n.Value)
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		}
		return true
	})
	return names
}

// parts are the words of a declared name.
var parts = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

func TestWordsHaveOneSense(t *testing.T) {
	for room, files := range sources(t) {
		if strings.HasPrefix(room, "internal/testkit") {
			continue
		}
		for file, parsed := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, name := range declared(parsed) {
				for _, part := range parts.FindAllString(name, -1) {
					word := strings.TrimSuffix(strings.ToLower(part), "s")
					if rooms, ambiguous := oneSense[word]; ambiguous && !slices.Contains(rooms, room) {
						t.Errorf("%s/%s declares %s: %s has another meaning", room, file, name, word)
					}
				}
			}
		}
	}
}

// sources are all Go files of the module, tests included, by room.
func sources(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	testkit.Alone(t)
	rooms, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return rooms
}

// parsed parses the sources once for all tests, which change nothing.
var parsed = sync.OnceValues(func() (map[string]map[string]*ast.File, error) {
	root := filepath.Join("..", "..")
	rooms := map[string]map[string]*ast.File{}
	for _, top := range []string{"cmd", "internal", "web"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(path))
			room := filepath.ToSlash(dir)
			if rooms[room] == nil {
				rooms[room] = map[string]*ast.File{}
			}
			rooms[room][filepath.Base(path)] = file
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rooms, nil
})

// declared lists the package-level names, methods and fields of a file.
func declared(file *ast.File) []string {
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name.Name)
			return false // parameters and local names are the function's own
		case *ast.TypeSpec:
			names = append(names, n.Name.Name)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names = append(names, name.Name)
			}
		case *ast.Field:
			for _, name := range n.Names {
				names = append(names, name.Name)
			}
		}
		return true
	})
	return names
}

func TestRetiredNamesStayRetired(t *testing.T) {
	rooms := sources(t)
	for room, names := range retired {
		for file, parsed := range rooms[room] {
			for _, name := range declared(parsed) {
				if slices.Contains(names, name) {
					t.Errorf("%s/%s declares %s, a name that was replaced by a standard term", room, file, name)
				}
			}
		}
	}
}

func TestCommentsArePlain(t *testing.T) {
	for room, files := range sources(t) {
		for file, parsed := range files {
			for _, group := range parsed.Comments {
				if found := archaic.FindString(strings.Join(strings.Fields(group.Text()), " ")); found != "" {
					t.Errorf("%s/%s has %q in a comment: say it in plain technical English", room, file, found)
				}
			}
		}
	}
}

// code matches what is no prose in a document: blocks and names of programs.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

// remark matches the comments of files that are not Go: of SQL, YAML, JavaScript and shells.
var remark = regexp.MustCompile(`(?m)(?:^|\s)(?:--|#|//|/?\*) (.*)$`)

// unread are files whose words are not ours to choose, with the reasons.
var unread = map[string]string{
	"docs/requirements.md":                "the founding documents' own words",
	"docs/tools.md":                       "written from declarations, with what people say",
	"internal/database/":                  "applied migrations never change: their digests are stored",
	"internal/domain/hr/migrations/":      "as internal/database",
	"internal/domain/finance/migrations/": "as internal/database",
	"internal/language/lexicon/":          "words that people use, with remarks about them",
	"internal/eval/questions/":            "questions as people ask them",
}

// TestDocumentsArePlain holds documents, and the comments of files that are not Go, to
// the words that comments may use.
func TestDocumentsArePlain(t *testing.T) {
	read := 0
	err := filepath.WalkDir(repository, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(repository, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains([]string{".md", ".sql", ".js", ".css", ".yaml", ".sh"}, filepath.Ext(name)):
			return nil
		}
		if slices.ContainsFunc(slices.Collect(maps.Keys(unread)), func(other string) bool { return strings.HasPrefix(name, other) }) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for _, prose := range proseOf(name, string(text)) {
			if found := archaic.FindString(prose); found != "" {
				t.Errorf("%s has %q: say it in plain technical English", name, found)
			}
		}
		return nil
	})
	if err != nil || read < 50 {
		t.Errorf("%d files were read, %v", read, err)
	}
}

// proseOf lists what a file says to people: a document without its code, or the comments
// of a program.
func proseOf(name, text string) (prose []string) {
	if strings.HasSuffix(name, ".md") {
		return []string{strings.Join(strings.Fields(code.ReplaceAllString(text, " ")), " ")}
	}
	for _, line := range remark.FindAllStringSubmatch(text, -1) {
		prose = append(prose, line[1])
	}
	return prose
}
