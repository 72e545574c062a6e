package access

import "slices"

// Relation is the relation of a principal to a row. A query sets it for each row;
// the zero value grants nothing.
type Relation uint8

// The relations.
const (
	Other Relation = iota // no special relation
	Self                  // the row is about the principal
	Below                 // the row is about someone in the tree under the principal
	Own                   // the row belongs to the principal (an account owner)
)

// Class is a kind of sensitive field. A struct tag gives a field its class by
// name: `mask:"pay"`. A field of the class is shown to anyone with one of the
// roles, and to anyone in one of the relations to its row.
type Class struct {
	Name      string
	Roles     []Role // of any domain
	Relations []Relation
}

// Policy is what a domain adds to the rule: the roles that it owns and the
// classes of its sensitive fields.
type Policy struct {
	Roles   []Role // from the narrowest to the widest
	Classes []Class
}

// Widest lists the roles of every company and those that policies declare, the widest
// first: of each domain its widest role, then the next. The roles of a person's own work
// come last.
func Widest(policies ...Policy) []Role {
	roles := []Role{Executive, Auditor}
	most := 0
	for _, p := range policies {
		most = max(most, len(p.Roles))
	}
	for n := 1; n <= most; n++ {
		for _, p := range policies {
			if n <= len(p.Roles) {
				roles = append(roles, p.Roles[len(p.Roles)-n])
			}
		}
	}
	return append(roles, Manager, Employee)
}

// Declares reports whether the policy or this package declares the role.
func (p Policy) Declares(r Role) bool {
	return slices.Contains(p.Roles, r) || slices.Contains([]Role{Employee, Manager, Executive, Auditor}, r)
}

// Class returns the class of the name.
func (p Policy) Class(name string) (Class, bool) {
	i := slices.IndexFunc(p.Classes, func(c Class) bool { return c.Name == name })
	if i < 0 {
		return Class{}, false
	}
	return p.Classes[i], true
}

// ShownTo lists who sees fields of a class, for people: its roles, the domain's own
// first. A role of another domain opens no row here; it is in the list as "finance-read
// for rows that they may see". A class that is shown of people to those above them says so.
func (p Policy) ShownTo(c Class) (who []string) {
	var others []string
	for _, r := range c.Roles {
		if p.Declares(r) {
			who = append(who, string(r))
		} else {
			others = append(others, string(r)+" for rows that they may see")
		}
	}
	if slices.Contains(c.Relations, Below) {
		others = append(others, "managers above the person")
	}
	return append(who, others...)
}

// Visible is the one masking rule: it reports whether the principal, in that
// relation to a row, may see fields of that class. The zero class is visible to
// no principal.
func Visible(p *Principal, r Relation, c Class) bool {
	return p != nil && (slices.Contains(c.Relations, r) || p.HasAny(c.Roles...))
}

// Style is how a hidden field is replaced.
type Style string

// The styles, given after the class in a mask tag: `mask:"phone,last4"`.
const (
	Hide    Style = ""        // *** (Hidden)
	Last4   Style = "last4"   // ***-0142
	Mailbox Style = "mailbox" // a***@example.com, still a valid address
)

// Hidden replaces a hidden value (document 003).
const Hidden = "*** (Hidden)"

// Mask returns the part of a hidden text that may be shown. An empty text stays
// empty.
func (s Style) Mask(text string) string {
	switch {
	case text == "":
		return ""
	case s == Last4:
		return maskLast4(text)
	case s == Mailbox:
		return maskMailbox(text)
	}
	return Hidden
}

func maskLast4(text string) string {
	digits := make([]byte, 0, len(text))
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			digits = append(digits, text[i])
		}
	}
	if len(digits) <= 4 { // showing all of a short number would hide nothing
		return Hidden
	}
	return "***-" + string(digits[len(digits)-4:])
}

func maskMailbox(text string) string {
	for i := range len(text) {
		if text[i] == '@' && i > 0 {
			return text[:1] + "***" + text[i:]
		}
	}
	return Hidden
}
