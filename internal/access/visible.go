package access

// Relation is what a principal is to a row. A query fills it for each row; the
// zero value grants nothing.
type Relation uint8

// The relations.
const (
	Other Relation = iota // no special relation
	Self                  // the row is about the principal
	Below                 // the row is about someone in the tree under the principal
	Own                   // the row belongs to the principal (an account owner)
)

// Class names a kind of sensitive field. A struct tag gives a field its class:
// `mask:"pay"`.
type Class string

// The classes of sensitive fields.
const (
	Pay     Class = "pay"     // salary, social security number
	Phone   Class = "phone"   // an employee's phone number
	Review  Class = "review"  // a reviewer's private comments
	Contact Class = "contact" // a customer's contact: sales' e-mail and phone
	Caller  Class = "caller"  // the e-mail address of someone who opened a ticket
)

// classRule says who sees a class: anyone with one of the roles, and anyone who
// stands in one of the relations to the row.
type classRule struct {
	roles     []Role
	relations []Relation
}

var classRules = map[Class]classRule{
	Pay:     {roles: []Role{HRWrite, FinanceRead, Executive}, relations: []Relation{Self}},
	Phone:   {roles: []Role{HRRead, HRWrite, Executive}, relations: []Relation{Self, Below}},
	Review:  {roles: []Role{HRWrite, Executive}, relations: []Relation{Below}},
	Contact: {roles: []Role{SalesWrite, Executive}, relations: []Relation{Own}},
	Caller:  {roles: []Role{SupportWrite, Executive}},
}

// Classes lists every class, for the inventory test.
func Classes() []Class { return []Class{Pay, Phone, Review, Contact, Caller} }

// Visible is the one masking rule: it reports whether the principal, standing
// in that relation to a row, may see fields of that class. An unknown class is
// seen by nobody.
func Visible(p *Principal, r Relation, c Class) bool {
	rule, known := classRules[c]
	if !known || p == nil {
		return false
	}
	for _, allowed := range rule.relations {
		if r == allowed {
			return true
		}
	}
	return p.HasAny(rule.roles...)
}

// Style says what stands in place of a hidden field.
type Style string

// The styles, given after the class in a mask tag: `mask:"phone,last4"`.
const (
	Hide    Style = ""        // *** (Hidden)
	Last4   Style = "last4"   // ***-0142
	Mailbox Style = "mailbox" // a***@example.com, still a valid address
)

// Hidden is the text that stands where a value may not be seen (document 003).
const Hidden = "*** (Hidden)"

// Mask returns what may be shown of a text of which the principal may not see
// all. An empty text stays empty: there is nothing to hide.
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
