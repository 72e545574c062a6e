package issuer

// Person is someone who can sign in.
type Person struct {
	Subject  string // the tokens' sub, unique
	Username string // preferred_username, unique
	Name     string
	Email    string // marked as verified when not empty
	Title    string // shown on the sign-in page only
	Roles    []string
	Groups   []string
}

// Client is an application that may send people here to sign in.
type Client struct {
	ID           string
	Secret       string   // empty: a public client, proven by PKCE alone
	RedirectURIs []string // matched exactly; loopback only
	LogoutURIs   []string // where people may return after signing out; matched exactly
	Audience     string   // aud of its access tokens; empty: the client's ID
}
