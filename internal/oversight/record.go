package oversight

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/plaintext"
)

// Bounds of one search.
const (
	pageSize  = 50
	mostRead  = 200_000 // events; a search that has read so many says where to go on
	maxFilter = 200     // bytes of a filter
)

// recordView is a page of the record, the newest event first.
type recordView struct {
	coverage
	Events []eventView `json:"events"`
	Next   string      `json:"next,omitempty"` // before which events to go on, one number for each log: there may be more
}

// eventView is an event without its fingerprints, which no page reads.
type eventView struct {
	audit.Event
	From    string    `json:"from"` // whose log it is in
	Shown   sight     `json:"shown,omitempty"`
	Expired time.Time `json:"expired,omitzero"` // of an opening: when it expired without an answer, which no line says
}

// sight is what the fingerprints of an event say about the row that is searched for, where
// nothing else names it.
type sight string

const (
	unnamed sight = ""
	shown   sight = "yes"     // the answer held its id
	perhaps sight = "perhaps" // the answer held more ids than the log keeps
)

// filter says which events are wanted. Empty fields let everything pass.
type filter struct {
	person, tool, outcome string // folded: see [folded]
	confirmation          string // its beginning
	row                   string
	titled                []string // tools whose titles fit, by name
	digests               []string // of the arguments of calls with that row alone
	before                []uint64 // of each log; empty: from the end
}

// record plans a search.
func (s *Service) record(r *http.Request) (Handler, error) {
	f, err := filterOf(r.URL.RawQuery, len(s.o.Logs))
	return func(w http.ResponseWriter, r *http.Request, _ principal) error { return s.search(w, r, f) }, err
}

// search reads the logs from their ends.
func (s *Service) search(w http.ResponseWriter, r *http.Request, f filter) error {
	if f.tool != "" {
		f.titled = titledLike(f.tool, s.o.Servers.Tools(r.Context()))
	}
	if f.row != "" {
		f.digests = digestsOf(f.row, s.o.Servers.Tools(r.Context()))
	}
	covered, err := s.covers(r.Context())
	if err != nil {
		return err
	}
	view, read := recordView{coverage: covered, Events: []eventView{}}, 0
	logs := s.read(f.before)
	for e := range logs.events() {
		if len(view.Events) == pageSize || read == mostRead || read%1000 == 0 && r.Context().Err() != nil {
			view.Next = logs.rest()
			break
		}
		read++
		expired := logs.expiry(e.Event, s.o.Now())
		if seen, fits := f.fits(e.Event, !expired.IsZero()); fits {
			view.Events = append(view.Events, eventView{e.Event, covered.Logs[e.log].Name, seen, expired})
		}
	}
	logs.end(&view.coverage)
	return httpx.JSON(w, http.StatusOK, view)
}

// filterOf reads a query of so many logs. A parameter that is not one of the search is refused: without
// it the answer would be wider than its reader thinks.
func filterOf(query string, logs int) (f filter, err error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return f, fault.BadRequest.New("The query cannot be read.").Suggest("Encode each value for a URL.").Because(err)
	}
	var before string
	fields := map[string]*string{"person": &f.person, "tool": &f.tool, "row": &f.row, "outcome": &f.outcome, "confirmation": &f.confirmation, "before": &before}
	for name, values := range q {
		field := fields[name]
		if field == nil {
			return f, fault.BadRequest.New("The audit log cannot be searched by %q.", fault.Clip(name, 64)).Instruct("Use person, tool, row, outcome, confirmation and before.")
		}
		if *field, err = parameter(name, values); err != nil {
			return f, err
		}
	}
	for _, field := range []*string{&f.person, &f.tool, &f.outcome} { // a row is as it is written in arguments
		*field = cmp.Or(folded(*field), *field) // nothing but signs finds nothing
	}
	f.confirmation = strings.ToLower(f.confirmation)
	if before == "" {
		return f, nil
	}
	for part := range strings.SplitSeq(before, ",") {
		number, err := strconv.ParseUint(part, 10, 64)
		if f.before = append(f.before, number); err != nil || number == 0 || len(f.before) > logs {
			break
		}
	}
	if len(f.before) != logs || slices.Contains(f.before, 0) {
		return f, fault.BadRequest.New("before must be the number of an event in each log that is read.").Suggest("Use next of the page before, or leave it out.")
	}
	return f, nil
}

// parameter is the one value of a parameter.
func parameter(name string, values []string) (string, error) {
	text := strings.TrimSpace(values[0])
	if len(values) > 1 {
		return "", fault.BadRequest.New("%s is given %d times.", name, len(values)).Suggest("Give it once.")
	}
	if len(text) > maxFilter {
		return "", fault.BadRequest.New("%s is longer than %d bytes.", name, maxFilter).Suggest("Use a part of it.")
	}
	if err := plaintext.Check(text, false); err != nil {
		return "", fault.BadRequest.New("%s %v.", name, err).Suggest("Use visible characters only.")
	}
	return text, nil
}

// fits reports whether an event is wanted, and what only its fingerprints say of the row.
func (f filter) fits(e audit.Event, expired bool) (sight, bool) {
	if f.person != "" && !strings.Contains(folded(e.Username+" "+e.Subject), f.person) || !f.calls(e) || !f.ends(e, expired) ||
		!strings.HasPrefix(strings.ToLower(e.Confirmation), f.confirmation) {
		return unnamed, false
	}
	if f.names(e) {
		return unnamed, true
	}
	switch found, sure := rowid.Held(e.Shown, f.row); {
	case found:
		return shown, true
	case !sure:
		return perhaps, true
	}
	return unnamed, false
}

// folded is a name as it is compared: without case, and with the same sign between words,
// for a page shows "Pending confirmation", "List employees" and "Alice Chen" of
// pending_confirmation, list_employees and alice.chen.
func folded(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
	return strings.Join(words, " ")
}

// calls reports whether an event is of a wanted tool.
func (f filter) calls(e audit.Event) bool {
	return f.tool == "" || strings.Contains(folded(e.Server+"."+e.Tool), f.tool) ||
		slices.Contains(f.titled, e.Tool) || slices.Contains(f.titled, e.Server+"."+e.Tool)
}

// ends reports whether an event ended as wanted, or is of the kind or the step that is wanted.
func (f filter) ends(e audit.Event, expired bool) bool {
	return f.outcome == "" || expired && f.outcome == "expired" || slices.Contains([]string{folded(e.Outcome), folded(string(e.Kind)), folded(e.Step)}, f.outcome)
}

// titledLike are the names of the tools whose titles fit, which pages show in place of names.
func titledLike(part string, set agent.Toolset) (names []string) {
	for _, t := range toolsOf(set) {
		if strings.Contains(folded(t.info.Title), part) {
			names = append(names, t.info.Name)
		}
	}
	return names
}

// names reports whether an event names the row that is searched for: its call named the
// row's id, or had nothing but it for an argument, of which the log keeps a digest.
func (f filter) names(e audit.Event) bool {
	if f.row == "" || slices.Contains(f.digests, e.Digest) && e.Digest != "" {
		return true
	}
	if slices.Contains(strings.Fields(strings.ToLower(e.Row)), strings.ToLower(f.row)) {
		return true
	}
	for _, text := range []string{e.Note, e.TaintedBy, e.Confirmation, e.Conversation, e.RequestID} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(f.row)) {
			return true
		}
	}
	return false
}

// digestsOf are the fingerprints of arguments that hold nothing but a row's id, under
// each name that an input of a tool has.
func digestsOf(row string, set agent.Toolset) (digests []string) {
	seen := map[string]bool{}
	for _, t := range toolsOf(set) {
		var schema struct {
			Properties map[string]json.RawMessage
		}
		if json.Unmarshal(t.info.InputSchema, &schema) != nil {
			continue
		}
		for name := range schema.Properties {
			if seen[name] {
				continue
			}
			seen[name] = true
			arguments, _ := json.Marshal(map[string]string{name: row}) // texts encode
			sum := sha256.Sum256(arguments)
			digests = append(digests, hex.EncodeToString(sum[:]))
		}
	}
	return digests
}

// Record is GET /api/audit: the newest events that fit the filters of the query.
func (s *Service) Record() Handler { return s.forAuditors("read the audit log", s.record) }
