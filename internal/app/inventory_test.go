package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/domain/tasks"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/oracle"
	"countersign.dev/internal/tool"
)

// declarations are the tools of every domain, without a store. A domain of the
// list that is missing here fails.
func declarations(t testing.TB) map[string][]tool.Tool {
	t.Helper()
	all := map[string][]tool.Tool{
		"hr": hr.New(nil).Tools(), "finance": finance.New(nil).Tools(),
		"sales": sales.New(nil, nil).Tools(), "support": support.New(nil, nil).Tools(),
		"tasks":      tasks.New(tasks.Options{}).Tools(),
		"codesearch": codesearch.New(codesearch.Options{}).Tools(),
	}
	for _, d := range domains() {
		if len(all[d.name]) == 0 {
			t.Fatalf("the tests of all declarations do not know the domain %s", d.name)
		}
	}
	return all
}

// inventory describes every declared tool by server, as the kernel mounts it.
func inventory(t testing.TB) map[string][]result.ToolInfo {
	t.Helper()
	cursors, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]result.ToolInfo{}
	for server, tools := range declarations(t) {
		r, err := tool.NewRunner(tools, tool.Options{
			Server: server, Codes: codesOf(server), Policy: policyOf(server), Cursors: cursors, Confirmations: &confirm.Service{}, Receipts: tool.OneStore(testkit.NewFakeDomain()), Audit: &testkit.MemorySink{},
		})
		if err != nil {
			t.Fatalf("%s: %v", server, err)
		}
		all[server] = r.Visible(catalogue())
	}
	return all
}

func policyOf(server string) access.Policy {
	d, _ := domainNamed(server)
	return d.policy
}

func codesOf(server string) []*fault.Code {
	d, _ := domainNamed(server)
	return d.codes
}

// schema is a JSON Schema as plain data.
type schema = map[string]any

func parsed(t testing.TB, raw json.RawMessage) (s schema) {
	t.Helper()
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return s
}

// answerSchemas are the branches of a tool's output schema, by title.
func answerSchemas(t testing.TB, info result.ToolInfo) map[string]schema {
	t.Helper()
	branches := map[string]schema{}
	for _, branch := range parsed(t, info.OutputSchema)["oneOf"].([]any) {
		branches[branch.(schema)["title"].(string)] = branch.(schema)["properties"].(schema)
	}
	return branches
}

// TestDeclarationsAreComplete checks what the kernel does not require.
func TestDeclarationsAreComplete(t *testing.T) {
	for server, infos := range inventory(t) {
		for _, info := range infos {
			for _, problem := range declarationProblems(t, server, info) {
				t.Errorf("%s.%s %s", server, info.Name, problem)
			}
		}
	}
}

var (
	proseShape = regexp.MustCompile(`^[A-Z][^\n]{30,900}\.$`)
	// nameShape is the name of a tool or an input. The page shows people the first sentence of
	// what a tool does.
	nameShape = regexp.MustCompile(`[a-z]_[a-z]`)
)

func declarationProblems(t *testing.T, server string, info result.ToolInfo) (problems []string) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	say(len(info.Roles) == 0, "allows no role")
	for _, role := range info.Roles {
		say(!slices.Contains(roleNames(), role), "allows %q, which is no role", role)
	}
	say(info.Title == "" || len(info.Title) > 40, "needs a short title, not %q", info.Title)
	say(!proseShape.MatchString(info.Description), "needs sentences as a description, on one line: %q", info.Description)
	first, _, _ := strings.Cut(info.Description, ". ")
	say(nameShape.MatchString(first), "is described to people with a name for programs: %q", first)
	say(info.Kind == result.Edit && server != "tasks", "changes company data at once: only a countersigned change may")
	say(info.Annotations != wanted(info), "is a %s and has the annotations %+v", info.Kind, info.Annotations)

	input := parsed(t, info.InputSchema)
	fields, _ := input["properties"].(schema)
	say(input["additionalProperties"] != false, "takes inputs that it does not know")
	_, limit := fields["limit"]
	_, cursor := fields["cursor"]
	if _, offset := fields["offset"]; offset && server == "tasks" { // document 002's pages
		cursor, limit = info.Kind == result.List, info.Kind == result.List
	}
	say(limit != (info.Kind == result.List) || cursor != limit, "is a %s; limit %v, cursor %v", info.Kind, limit, cursor)

	answers := answerSchemas(t, info)
	_, pages := answers["SuccessResponse"]["metadata"]
	_, pending := answers["PendingConfirmationResponse"]
	data := answers["SuccessResponse"]["data"].(schema)
	say((data["type"] == "array") != (info.Kind == result.List) || pages != (info.Kind == result.List), "is a %s with rows %v, pages %v", info.Kind, data["type"], pages)
	say(pending != (info.Kind == result.Write), "is a %s, and pending_confirmation in its schema is %v", info.Kind, pending)
	say(info.Kind == result.Write && !has(data, "message"), "returns no message about what it did")
	return problems
}

// wanted are the hints of a kind, written independently of the kernel.
func wanted(info result.ToolInfo) result.Annotations {
	switch verb, _, _ := strings.Cut(info.Name, "_"); {
	case info.Kind == result.Write:
		return result.Annotations{ReadOnly: false, Destructive: false, Idempotent: false, OpenWorld: false} // it only previews
	case info.Kind == result.Edit: // of its caller's own data, at once
		return result.Annotations{ReadOnly: false, Destructive: verb != "create" && verb != "link" && verb != "undelete", Idempotent: false, OpenWorld: false}
	}
	return result.Annotations{ReadOnly: true, Destructive: false, Idempotent: true, OpenWorld: false}
}

// has reports whether a schema has a property of that name, however deep.
func has(node any, name string) bool {
	switch n := node.(type) {
	case []any:
		return slices.ContainsFunc(n, func(inner any) bool { return has(inner, name) })
	case schema:
		if properties, ok := n["properties"].(schema); ok && properties[name] != nil {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(n)), func(inner any) bool { return has(inner, name) })
	}
	return false
}

func TestAllFourHintsAreOnTheWire(t *testing.T) {
	for server, infos := range inventory(t) {
		for _, info := range infos {
			encoded, err := json.Marshal(info)
			if err != nil {
				t.Fatal(err)
			}
			hints, _ := parsed(t, encoded)["annotations"].(schema)
			for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
				if _, present := hints[hint].(bool); !present {
					t.Errorf("%s.%s does not tell %s: %v", server, info.Name, hint, hints)
				}
			}
		}
	}
}

// lookalikes replaces letters that people confuse. Names that still differ
// afterwards, without their plural, look different.
var lookalikes = strings.NewReplacer("_", "", "0", "o", "1", "l", "i", "l", "5", "s", "rn", "m", "vv", "w")

func TestNoTwoToolsLookAlike(t *testing.T) {
	taken := map[string]string{}
	for server, infos := range inventory(t) {
		for _, info := range infos {
			looks := strings.TrimSuffix(lookalikes.Replace(info.Name), "s")
			if other, ok := taken[looks]; ok {
				t.Errorf("%s.%s looks like %s", server, info.Name, other)
			}
			taken[looks] = server + "." + info.Name
		}
	}
}

func TestEveryErrorCodeMeansOneThing(t *testing.T) {
	shape := regexp.MustCompile(`^[A-Z][A-Z_]*[A-Z]$`)
	all := fault.Shared()
	for _, d := range domains() {
		all = append(all, d.codes...)
	}
	seen := map[string]bool{}
	for _, c := range all {
		switch {
		case seen[c.Name]:
			t.Errorf("%s is declared twice", c.Name)
		case !shape.MatchString(c.Name):
			t.Errorf("%q is no name for a code", c.Name)
		case !strings.HasSuffix(c.Meaning, ".") || !strings.HasSuffix(c.Suggestion(), "."):
			t.Errorf("%s needs a meaning and a suggestion, both as sentences", c.Name)
		case strings.HasSuffix(c.Name, "_NOT_FOUND") && c.Kind != fault.NotFound: // the gateway reads it from the name
			t.Errorf("%s is of the kind %s", c.Name, c.Kind)
		case c.Status < 200 || c.Status > 599:
			t.Errorf("%s has HTTP status %d", c.Name, c.Status)
		}
		seen[c.Name] = true
	}
}

// TestDeclarationsContainNoCompanyData: every caller's model reads every
// description, so none may contain a name, an address or pay.
// toolLanguage are words that a person who asks in plain language never reads:
// names of tools and inputs, and what programs do with them.
var toolLanguage = regexp.MustCompile(`[a-z]_[a-z]|[a-z][A-Z]|\b(?i:call\b|cursor|field|tool|parameter|JSON|schema|header|bearer|token|input)`)

func TestAdviceOfEveryCodeIsForPeople(t *testing.T) {
	codes := slices.Concat(fault.Shared(), conversation.Codes())
	for _, d := range domains() {
		codes = append(codes, d.codes...)
	}
	kept := 0
	for _, code := range codes {
		message, advice := code.New("It did not work.").ForPeople()
		if toolLanguage.MatchString(message + advice) {
			t.Errorf("%s: a person reads %q %q", code.Name, message, advice)
		}
		if advice != "" {
			kept++
		}
	}
	if kept < len(codes)/3 {
		t.Errorf("only %d of %d codes have advice for people", kept, len(codes))
	}
}

// withoutSubject are the codes that are about a request or its caller, and so have
// nothing to name in their details.
var withoutSubject = []string{
	"BAD_REQUEST", "UNAUTHENTICATED", "ACCOUNT_ENDED", "SIGN_IN_REVOKED", "IDENTITY_UNPROVEN", "PERSON_CHANGED", "FORBIDDEN",
	"ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "CANCELLED", "EVENTS_GONE", "CONVERSATION_UNREADABLE",
}

// TestEveryCodeSaysWhatItIsAbout: a code that has a subject declares the details
// that name it. That its errors have them, the tests of the domains show.
func TestEveryCodeSaysWhatItIsAbout(t *testing.T) {
	codes := slices.Concat(fault.Shared(), conversation.Codes())
	for _, d := range domains() {
		codes = append(codes, d.codes...)
	}
	for _, c := range codes {
		if declared, none := len(c.Subject)+len(c.Details) > 0, slices.Contains(withoutSubject, c.Name); declared == none && c.Kind != fault.Unavailable {
			t.Errorf("%s: details declared %v, without a subject %v", c.Name, declared, none)
		}
	}
}

// TestErrorsNameTheirSubject makes the errors that no domain has of its own. Every
// one tells a program what it is about.
func TestErrorsNameTheirSubject(t *testing.T) {
	w := newHarness(t)
	for _, c := range []struct {
		who, server, tool string
		in                map[string]any
		code, details     string
	}{
		{"frank.davis", "hr", "list_employees", nil, "INSUFFICIENT_PERMISSIONS",
			`{"requiredRole":"hr-read or manager or executive","requiredRoles":["hr-read","manager","executive"],"userRoles":["employee"]}`},
		{"alice.chen", "hr", "no_such_tool", nil, "UNKNOWN_TOOL", `{"tool":"no_such_tool"}`},
		{"alice.chen", "hr", "list_employees", map[string]any{"limit": 51, "team": "x"}, "VALIDATION_ERROR", `{"fields":["limit","team"]}`},
		{"alice.chen", "hr", "get_org_chart", map[string]any{"root_employee_id": noUUID}, "EMPLOYEE_NOT_FOUND", `{"employeeId":"` + noUUID + `"}`},
		{"bob.martinez", "finance", "get_budget", map[string]any{"department": "Zoo"}, "BUDGET_NOT_FOUND", `{"department":"Zoo","fiscalYear":` + strconv.Itoa(time.Now().UTC().Year()) + `}`},
		{"carol.johnson", "sales", "list_deals", map[string]any{"closing_from": "2026-02-01", "closing_to": "2026-01-01"}, "INVALID_INPUT", `{"fields":["closing_from","closing_to"]}`},
		{"marcus.johnson", "codesearch", "get_file_lines", map[string]any{"repository": "sample", "file_path": "none.go"}, "FILE_NOT_FOUND", `{"filePath":"none.go","repository":"sample"}`},
	} {
		o := w.call(t, account(t, c.who).Principal(), c.server, c.tool, c.in)
		if o.Code() != c.code {
			t.Errorf("%s: got %s, want %s", c.tool, o.Code(), c.code)
			continue
		}
		if details, err := json.Marshal(o.Fault().Details); err != nil || string(details) != c.details {
			t.Errorf("%s %v: the details of %s are %s, want %s", c.tool, c.in, c.code, details, c.details)
		}
	}
}

// TestAdviceIsOpenToItsReader: Marcus is not sent to a list that is not for him.
func TestAdviceIsOpenToItsReader(t *testing.T) {
	w := newHarness(t)
	for who, want := range map[string]string{"marcus.johnson": "is for the roles hr-read, manager, executive", "alice.chen": "Use list_employees tool"} {
		for _, id := range []string{noUUID, "ABC123"} {
			o := w.call(t, account(t, who).Principal(), "hr", "get_employee", map[string]any{"employee_id": id})
			if !strings.Contains(o.Fault().SuggestedAction, want) {
				t.Errorf("%s, %s: got %q", who, id, o.Fault().SuggestedAction)
			}
		}
	}
}

// TestAdviceOfEveryFieldIsOpenToItsReader: what a declaration advises about a field
// names its tool as a value too, and a field's advice leaves that of others alone.
func TestAdviceOfEveryFieldIsOpenToItsReader(t *testing.T) {
	w := newHarness(t)
	only := func(roles []string) *access.Principal { return oracle.Asker{Roles: roles}.Principal() }
	sent := 0
	for server, infos := range inventory(t) {
		for _, info := range infos {
			if info.Fields == nil {
				continue
			}
			for field, declared := range info.Fields.Input {
				for _, other := range infos {
					if !strings.Contains(declared.Suggest, other.Name) {
						continue
					}
					for _, role := range info.Roles {
						o := w.call(t, only([]string{role}), server, info.Name, map[string]any{field: 0, "neither": 1})
						closed := strings.Contains(o.Fault().SuggestedAction, other.Name+" is for the roles")
						if closed == slices.Contains(other.Roles, role) || !strings.Contains(o.Fault().SuggestedAction, "neither: is not a field of this tool") {
							t.Errorf("%s of %s, asked with the role %s: %q", field, info.Name, role, o.Fault().SuggestedAction)
						}
						sent++
					}
				}
			}
		}
	}
	if sent == 0 {
		t.Error("no advice names a tool")
	}
}

func TestDeclarationsContainNoCompanyData(t *testing.T) {
	private := privateWords(company.At(time.Now()))
	for server, infos := range inventory(t) {
		for _, info := range infos {
			encoded, err := json.Marshal(info)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range private {
				if strings.Contains(strings.ToLower(string(encoded)), strings.ToLower(word)) {
					t.Errorf("%s.%s contains %q", server, info.Name, word)
				}
			}
		}
	}
}

// privateWords are values of the company's rows that no declaration may contain.
func privateWords(c *company.Company) (words []string) {
	for _, e := range c.Employees {
		words = append(words, e.Name(), e.Email, e.SSN, e.Phone, e.ID, fmt.Sprint(e.Salary), fmt.Sprintf("%d,%03d", e.Salary/1000, e.Salary%1000))
	}
	for _, a := range company.Accounts() {
		words = append(words, a.Username, a.Subject)
	}
	for x := range c.Sales().Customers {
		words = append(words, x.Company, x.Contact, x.Email, x.Phone, x.ID)
	}
	for d := range c.Sales().Deals {
		words = append(words, d.Name, d.ID)
	}
	return words
}
