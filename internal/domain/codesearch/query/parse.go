package query

import (
	"bytes"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/vocabulary"
	"countersign.dev/internal/domain/codesearch/words"
)

const (
	maxGroups     = 32             // words of a query that count. More are left out
	maxNames      = 3 * maxGroups  // definitions that it may mean: each is a condition of an engine's query
	maxExpansions = 40             // terms that a word is sought by beside itself
	maxTerms      = 20 * maxGroups // what its words are sought by, which are conditions, too: a long query has less room for each
)

// parsed is a query.
type parsed struct {
	groups []group
	names  []name // definitions that it may mean, most exact first
	pairs  []pair // words beside each other
	symbol bool   // it names something rather than asking about it
	topic  bool   // it names a matter rather than asking for a place
	tests  bool   // it asks for tests, examples or documents itself
}

// group is one word of the query with the terms that count for it.
type group struct {
	word   string
	weight float64
	terms  []weighted
	most   int // how many terms it may have
}

type weighted struct {
	text   string
	weight float64
	inPath float64 // its weight in names of files and folders
}

// pair is two words beside each other, and the name that they make.
type pair struct{ first, second, joined string }

// name is a definition that the query may mean.
type name struct {
	whole   string
	owner   string // what it belongs to, as written; may be empty
	weight  float64
	written string // as the query spells it; empty: made of words
}

// parse reads a query. Words that say nothing are left out, unless there are no
// others.
func parse(text string, off Signal) parsed {
	var p parsed
	fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;()[]{}<>\"'“”‘’`?!=*&|+", r) })
	if off&Kinds == 0 {
		fields = declared(fields)
	}
	p.symbol = off&Kinds == 0 && isSymbol(fields)
	p.topic = off&Kinds != 0 || isTopic(fields)
	p.compounds(p.count(fields))
	p.names = p.names[:min(len(p.names), maxNames)]
	for i := range p.groups {
		p.groups[i].most = min(1+maxExpansions, maxTerms/len(p.groups))
	}
	p.tests = slices.ContainsFunc(fields, func(f string) bool {
		f = strings.ToLower(f)
		return strings.HasPrefix(f, "test") || strings.HasPrefix(f, "example") || strings.HasPrefix(f, "benchmark")
	})
	return p
}

// count adds the words of the fields, and returns the fields that have room.
func (p *parsed) count(fields []string) []string {
	for _, everything := range []bool{false, true} {
		for i, field := range fields {
			if p.field(field, everything); len(p.groups) >= maxGroups {
				p.groups = p.groups[:maxGroups]
				return fields[:i+1]
			}
		}
		if len(p.groups) > 0 {
			break
		}
	}
	return fields
}

// declaring are the words that declarations begin with, and what people call what is declared.
var declaring = set("class struct interface enum trait type typedef union function func fn def method module macro const")

// declared is the name alone of a query such as struct ring_buffer or class Cleaner. The name
// must be written as names are, or begin with a capital: class loading is a matter.
func declared(fields []string) []string {
	var names []string
	for _, field := range fields {
		if !declaring[field] {
			names = append(names, field)
		}
	}
	if len(names) == 1 && len(names) < len(fields) && (codeLike(names[0]) || 'A' <= names[0][0] && names[0][0] <= 'Z') {
		return names
	}
	return fields
}

// isSymbol reports whether a query is a name, or a few.
func isSymbol(fields []string) bool {
	code := 0
	for _, field := range fields {
		if codeLike(field) {
			code++
		}
	}
	return len(fields) == 1 || len(fields) <= 3 && code == len(fields) && code > 0
}

// codeLike reports whether a word is written as names are: with a change of case,
// an underscore or a part after a point.
func codeLike(field string) bool {
	field = strings.Trim(field, ".:#/-")
	if strings.ContainsAny(field, "_") || strings.Contains(field, "::") || strings.Contains(field, "->") || strings.Contains(field, "#") {
		return true
	}
	if i := strings.IndexByte(field, '.'); i > 0 && i < len(field)-1 {
		return true
	}
	return len(words.Split(field)) > 1 && !strings.ContainsAny(field, "-/")
}

// field adds one field of the query: its words, and the name that it may be.
func (p *parsed) field(field string, everything bool) {
	first := len(p.groups)
	var parts []string
	for i := 0; ; {
		start, end := words.Next([]byte(field), i)
		if start == len(field) {
			break
		}
		i = end
		parts = append(parts, field[start:end])
	}
	for _, part := range parts {
		p.word(part, everything)
	}
	if len(parts) == 0 || len(p.groups) == first {
		return
	}
	last := parts[len(parts)-1]
	owner := ""
	if len(parts) > 1 {
		owner = parts[len(parts)-2]
	}
	if codeLike(field) || p.symbol {
		p.names = append(p.names, name{words.Whole(last), owner, 1, last})
		if signed := lastName(field); strings.ContainsAny(signed, "$-") {
			p.names = append(p.names, name{words.Whole(signed), "", 1, signed})
		}
	}
}

// lastName is the last name of a field with the signs that words do not have: $ZodType, read-line.
func lastName(field string) string {
	field = strings.Trim(field, ".:#/-")
	return field[strings.LastIndexAny(field, ".:#/")+1:]
}

// word adds a word. A name of several parts counts as a whole and by its parts.
func (p *parsed) word(word string, everything bool) {
	lower := strings.ToLower(word)
	if !everything && vocabulary.Silent(lower) {
		return
	}
	terms := words.Terms(word)
	if len(terms) == 0 || slices.ContainsFunc(p.groups, func(g group) bool { return g.word == lower }) {
		return
	}
	weight := 1.0
	if len(terms) == 1 && !p.symbol {
		weight = vocabulary.Recalled(terms[0])
	}
	p.groups = append(p.groups, group{word: lower, weight: weight, terms: []weighted{{terms[0], 1, 1}}})
	for _, part := range terms[1:] {
		if !slices.ContainsFunc(p.groups, func(g group) bool { return g.terms[0].text == part }) {
			p.groups = append(p.groups, group{word: part, weight: 0.6, terms: []weighted{{part, 1, 1}}})
		}
	}
}

// wellRecalled is the weight from which one word alone may be the name of what is sought.
const wellRecalled = 0.85

// Naming says what of a place a query is about.
type Naming struct {
	parsed
	terms map[string][]string // of words that were seen
}

// NamingOf reads a query.
func NamingOf(text string) *Naming { return &Naming{parse(text, 0), map[string][]string{}} }

// Among is the number of the definition that the query names: by its name, or by all words
// of that. Of several it is the one with most words of the query.
func (n *Naming) Among(definitions []index.Definition) (number int, ok bool) {
	best := 0
	for i, d := range definitions {
		if worth := n.worth(d); worth > best {
			best, number = worth, i
		}
	}
	return number, best > 0
}

// worth is how well the query names a definition; 0: it does not.
func (n *Naming) worth(d index.Definition) (worth int) {
	const exact, written, owned = 1000, 100, 50
	for _, name := range n.names {
		if name.written == "" || name.whole != words.Whole(d.Name) {
			continue
		}
		at := exact
		if name.written == d.Name {
			at += written
		}
		if name.owner != "" && words.Whole(name.owner) == words.Whole(d.Of) {
			at += owned
		}
		worth = max(worth, at)
	}
	if worth > 0 {
		return worth
	}
	for _, part := range words.Split(d.Name) {
		if vocabulary.Silent(strings.ToLower(part)) {
			continue
		}
		if !n.has(part) {
			return 0
		}
		worth += 2
	}
	if worth > 0 && d.Of != "" && n.has(d.Of) {
		worth++
	}
	return worth
}

// has reports whether a word's terms are all in the query.
func (n *Naming) has(word string) bool {
	terms := words.Terms(word)
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t string) bool { return n.group(t) < 0 })
}

// group is the number of the query's word that has a term, or -1.
func (n *Naming) group(term string) int {
	return slices.IndexFunc(n.groups, func(g group) bool { return g.terms[0].text == term })
}

// Line is the number of the line, from 0, that has most of the query. A
// word counts less the more lines have it.
func (n *Naming) Line(text []byte) (number int) {
	lines := bytes.Split(text, []byte("\n"))
	in, all := make([]uint32, len(lines)), [maxGroups]int{}
	for i, line := range lines {
		for at := 0; at < len(line); {
			var start int
			start, at = words.Next(line, at)
			for _, term := range n.termsOf(string(line[start:at])) {
				if g := n.group(term); g >= 0 && in[i]&(1<<g) == 0 {
					in[i] |= 1 << g
					all[g]++
				}
			}
		}
	}
	best := 0.0
	for i := range lines {
		worth := 0.0
		for g := range n.groups {
			if in[i]&(1<<g) != 0 {
				worth += n.groups[g].weight / float64(all[g])
			}
		}
		if worth > best {
			best, number = worth, i
		}
	}
	return number
}

// termsOf are the terms of a word.
func (n *Naming) termsOf(word string) []string {
	terms, known := n.terms[word]
	if !known {
		terms = words.Terms(word)
		n.terms[word] = terms
	}
	return terms
}

// compounds adds the names that neighbouring words make: "wait group" may mean
// WaitGroup or wait_group, and "verify token" VerifyToken.
func (p *parsed) compounds(fields []string) {
	if p.symbol {
		return
	}
	var plain []string
	for _, field := range fields {
		field = strings.Trim(field, ".:#/-")
		if field == "" || strings.ContainsAny(field, ".:/#") {
			plain = append(plain, "")
			continue
		}
		lower := strings.ToLower(strings.ReplaceAll(field, "-", ""))
		if vocabulary.Silent(lower) {
			continue
		}
		plain = append(plain, lower)
	}
	for n := 3; n >= 1; n-- {
		for i := 0; i+n <= len(plain); i++ {
			if slices.Contains(plain[i:i+n], "") || n == 1 && (len(plain[i]) < 4 || vocabulary.Recalled(words.Stem(plain[i])) < wellRecalled) {
				continue
			}
			joined := words.Whole(strings.Join(plain[i:i+n], ""))
			weight := []float64{0, 0.06, 0.5, 0.7}[n]
			p.names = append(p.names, name{joined, "", weight, ""})
			if n == 2 {
				p.pairs = append(p.pairs, pair{plain[i], plain[i+1], joined})
			}
			if last := plain[i+n-1]; strings.HasSuffix(last, "s") && len(last) > 3 {
				p.names = append(p.names, name{strings.TrimSuffix(joined, "s"), "", weight, ""})
			}
		}
	}
}

var (
	// actions are verbs that begin a request for the place where something is done.
	actions = set("accept add adjust allocate allow apply ask assert assign attach authenticate authorize avoid bind broadcast bypass calculate cancel capture catch change check choose clean clear clone close collapse collect colorize combine compare compile complete compose compress compute configure connect convert copy count create decide declare decode decompress decrypt deduplicate define delete deliver deny deserialize detach detect determine disable discard display divide download draw drop dump emit enable encode encrypt enforce ensure enumerate escape establish estimate evaluate evict execute expand expire export expose extract fetch fill find finish flatten flush follow forward free generate get give grow guess handle hide identify ignore implement import include infer initialize inject insert inspect install intern invoke iterate join keep kill launch limit list load locate look make map mark match measure merge migrate modify move mount multiply negotiate normalize notify obtain obey open override pack parse pick populate prevent print produce propagate protect provide publish purge push put raise read rebuild receive reconnect recover redirect reduce refresh register reject release reload remove rename render replace replay report require reset resize resolve restart restore resume resubscribe retrieve retry return reuse revert revoke rewrite rotate round run sanitize save scan schedule select send serialize serve set shrink shuffle shut sign simplify skip sort spawn split start steal stop store strip submit subscribe suggest suspend swap sync synchronize take terminate throttle throw tokenize track transform translate traverse trigger trim truncate turn unmarshal unpack unregister unsubscribe unwrap update upgrade upload validate verify wait walk warn watch wrap write")
	// either are verbs and nouns: they ask for a place before an article or the like.
	either     = set("archive benchmark block buffer build cache call chunk debug default delay drain encode error escape export filter format fork frame group hash highlight hook index intercept limit lint list lock log map match mock monitor mount order parse patch pin pipe poll profile proxy query queue rank record request resolve route sample search seal seed share shard show sort stream stub tag template test time trace type use view zip")
	determiner = set("a an all any each every both how if it its only several some that the their them these this those two what when where whether which")
	asking     = set("how where when what which who why whose")
	asWhole    = set("work works implemented structured organized") // the end of: how does the scheduler work
)

// isTopic reports whether a query names a matter, such as "garbage collection", rather
// than asking where something is done: then its answers are files more than lines.
func isTopic(fields []string) bool {
	if len(fields) == 0 {
		return true
	}
	first := strings.ToLower(fields[0])
	switch {
	case asking[first]:
		return asWhole[strings.ToLower(fields[len(fields)-1])]
	case len(fields) > 1 && either[first]:
		return !determiner[strings.ToLower(fields[1])]
	}
	return !actions[first]
}

// set makes a set of words.
func set(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}
