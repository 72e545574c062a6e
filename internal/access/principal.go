package access

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/fault"
)

// Role is a role name as the identity issuer spells it.
type Role string

// The roles that every company has. All others are declared by the domain that
// owns them, in its [Policy].
const (
	Employee  Role = "employee"
	Manager   Role = "manager"
	Executive Role = "executive"
	Auditor   Role = "auditor"
)

// Owner identifies a person across servers: the original issuer and the subject
// there. Confirmations and conversations belong to one owner.
type Owner struct {
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
}

// String is a stable key; the separator cannot occur in a URL.
func (o Owner) String() string { return o.Issuer + "|" + o.Subject }

// Account is someone's account: who they are at their issuer, where that is
// known, and their address.
type Account struct {
	Owner
	Address string // in lower case
}

// Purpose is what an internal token may be used for.
type Purpose string

// The purposes of internal tokens. A token of an identity issuer has none, and
// may be used for calls.
const (
	PurposeNone      Purpose = ""
	PurposeCall      Purpose = "call"
	PurposeExecute   Purpose = "execute"
	PurposeCatalogue Purpose = "catalogue"
)

// Surface is where a call began.
type Surface string

// The surfaces. Through all but the last one, the gateway makes the call.
const (
	SurfaceChat     Surface = "chat"     // a question on our page
	SurfaceTerminal Surface = "terminal" // a question by a bearer token: our terminal, or another program
	SurfaceAPI      Surface = "api"      // a direct call of a tool
	SurfaceMCP      Surface = "mcp"      // an MCP client of the gateway
	SurfaceServer   Surface = "server"   // a server that was called without the gateway
)

// Surfaces lists them all.
func Surfaces() []Surface {
	return []Surface{SurfaceChat, SurfaceTerminal, SurfaceAPI, SurfaceMCP, SurfaceServer}
}

// Provenance says where a call came from. The gateway writes it into its internal
// tokens; no person's own token has one.
type Provenance struct {
	Surface   Surface  `json:"surface"`
	TaintedBy []Source `json:"tainted_by,omitempty"` // the untrusted texts that the model had read before the call
}

// Read names the untrusted texts in a line, for records: by ids alone, because who reads those may
// see no rows.
func (p Provenance) Read() string {
	names := make([]string, len(p.TaintedBy))
	for i, source := range p.TaintedBy {
		source.Name, source.About = "", ""
		names[i] = source.String()
	}
	return strings.Join(names, ", ")
}

// Source is an untrusted text: of a row, the whole answer of a tool, or so many more
// that are not named.
type Source struct {
	Kind  string `json:"kind,omitempty"` // of the row: "ticket"
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`  // of the row, where people do not know its id
	About string `json:"about,omitempty"` // whose row it is, where it has no name
	Tool  string `json:"tool,omitempty"`
	More  int    `json:"more,omitempty"`
}

// String is for the person who asked, who saw the row.
func (s Source) String() string {
	switch {
	case s.More == 1:
		return "1 more text"
	case s.More > 1:
		return strconv.Itoa(s.More) + " more texts"
	case s.Name != "":
		return "text of " + s.Kind + " “" + s.Name + "”"
	case s.About != "":
		return "text of " + s.Kind + " about “" + s.About + "”"
	case s.Kind != "":
		return "text of " + s.Kind + " " + s.ID
	}
	return "an answer of " + s.Tool
}

// Claims are the claims of a verified token.
type Claims struct {
	Issuer        string // the original issuer, also behind an internal token
	Subject       string
	Username      string
	Email         string
	EmailVerified bool
	Name          string
	Roles         []string
	Groups        []string
	TokenID       string    // jti of the person's own token, also behind an internal token
	Issued        time.Time // of the person's own token
	Purpose       Purpose
	Provenance    Provenance // of an internal token
	Expires       time.Time

	// MayConfirm is the right to answer one's own confirmations.
	MayConfirm bool
}

// Principal is a verified caller. Its fields cannot be set from outside, so
// holding one means that a token was verified.
type Principal struct {
	claims Claims
	email  string // lower-cased; empty unless verified
	roles  map[Role]bool
}

// NewPrincipal makes a principal of verified claims. Only package auth (and
// testkit) may call it; a test scans the source for other callers.
func NewPrincipal(c Claims) *Principal {
	p := &Principal{claims: c, roles: make(map[Role]bool, len(c.Roles))}
	if c.EmailVerified {
		p.email = FoldAddress(c.Email)
	}
	for _, r := range c.Roles {
		p.roles[Role(r)] = true
	}
	p.claims.Roles = slices.Clone(c.Roles)
	slices.Sort(p.claims.Roles)
	p.claims.Roles = slices.Compact(p.claims.Roles)
	return p
}

// FoldAddress writes the letters A to Z of an address in lower case, and no others: U+212A, the Kelvin sign, is a
// k to other rules, and another mailbox.
func FoldAddress(address string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, address)
}

// Owner is the person's key.
func (p *Principal) Owner() Owner { return Owner{p.claims.Issuer, p.claims.Subject} }

// Subject is the token's sub.
func (p *Principal) Subject() string { return p.claims.Subject }

// Username is the preferred user name.
func (p *Principal) Username() string { return p.claims.Username }

// Name is the display name.
func (p *Principal) Name() string { return p.claims.Name }

// Email is the verified address in lower case, or empty: an unverified address
// identifies no person.
func (p *Principal) Email() string { return p.email }

// Signature is how a row records who changed it: by the verified address, or else by who
// the person is at their issuer. A user name is none: an issuer can give anyone's.
func (p *Principal) Signature() string { return cmp.Or(p.email, p.Owner().String()) }

// Lacks adds to a refusal the roles of which one is needed, and the principal's own, which
// are a list also when there is none.
func (p *Principal) Lacks(f *fault.Error, roles ...string) *fault.Error {
	return f.With("requiredRole", strings.Join(roles, " or ")).With("requiredRoles", roles).With("userRoles", append([]string{}, p.Roles()...))
}

// Roles lists the role names, sorted. The caller must not change the slice.
func (p *Principal) Roles() []string { return p.claims.Roles }

// Groups lists the groups. The caller must not change the slice.
func (p *Principal) Groups() []string { return p.claims.Groups }

// TokenID is the jti of the person's own token, also behind an internal token; of
// a token without one, its digest; in a browser's session, of its first token.
func (p *Principal) TokenID() string { return p.claims.TokenID }

// Issued is when the person's own token was issued, in whole seconds; zero when
// it does not say. In a browser's session it is when the person signed in.
func (p *Principal) Issued() time.Time { return p.claims.Issued }

// Purpose is the purpose of the internal token, or PurposeNone.
func (p *Principal) Purpose() Purpose { return p.claims.Purpose }

// Provenance says where the principal's call began. Unless the gateway says otherwise,
// that is the server which was called.
func (p *Principal) Provenance() Provenance {
	o := p.claims.Provenance
	o.Surface = cmp.Or(o.Surface, SurfaceServer)
	return o
}

// WithSurface returns the principal as the caller on a surface. Only the gateway
// and its gates may call it; a test scans the source for other callers.
func (p *Principal) WithSurface(s Surface) *Principal {
	with := *p
	with.claims.Provenance.Surface = s
	return &with
}

// Tainted returns the context of a call that follows untrusted texts. Only the agent
// may call it; a test scans the source for other callers.
func Tainted(ctx context.Context, by []Source) context.Context {
	p, err := From(ctx)
	if err != nil {
		return ctx
	}
	with := *p
	with.claims.Provenance.TaintedBy = by
	return With(ctx, &with)
}

// MayConfirm reports whether the principal may approve and deny their own
// confirmations. It is a right of its own: a token for tools does not have it.
func (p *Principal) MayConfirm() bool { return p.claims.MayConfirm }

// InSession returns the principal as the person of a browser's session, who may
// answer confirmations. Its token is that of the sign-in which began the session,
// so that what revokes the sign-in ends everything of the session. Only package
// auth may call it; a test scans the source for other callers.
func (p *Principal) InSession(tokenID string, issued time.Time) *Principal {
	with := *p
	with.claims.MayConfirm = true
	with.claims.TokenID, with.claims.Issued = tokenID, issued
	return &with
}

// Expires is when the token of the principal expires.
func (p *Principal) Expires() time.Time { return p.claims.Expires }

// HasAny reports whether the principal has at least one of the roles.
func (p *Principal) HasAny(roles ...Role) bool {
	for _, r := range roles {
		if p.roles[r] {
			return true
		}
	}
	return false
}

type contextKey struct{}

// With puts the principal into the context.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From takes the principal from the context. Without one it returns
// UNAUTHENTICATED.
func From(ctx context.Context) (*Principal, error) {
	if p := Of(ctx); p != nil {
		return p, nil
	}
	return nil, fault.Unauthorized.New("No user is signed in.")
}

// Of returns the principal of the context, or nil. It decides nothing: a line of a log
// names who is there.
func Of(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}
