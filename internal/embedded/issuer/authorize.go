package issuer

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

//go:embed page.html
var pageHTML string

//go:embed style.css
var styleCSS string

var (
	page      = template.Must(template.New("page").Parse(pageHTML))
	challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`) // base64url of a SHA-256
)

// request is a checked authorization request.
type request struct {
	client    Client
	redirect  string
	state     string
	nonce     string
	challenge string
	scope     string // granted
}

// carried are the parameters that the sign-in form sends back, to be checked
// again.
var carried = []string{"client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge", "code_challenge_method"}

// authorize shows the people, after the request was checked.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	req, ok := i.accept(w, r, query)
	if !ok {
		return
	}
	if query.Get("prompt") == "none" {
		i.refuse(w, r, req, "login_required", "No person is signed in: the sign-in page must be shown.")
		return
	}
	kept := make(map[string]string, len(carried))
	for _, name := range carried {
		kept[name] = query.Get(name)
	}
	i.show(w, req, kept, query.Get("login_hint"))
}

// show writes the sign-in page. The hinted person, else the first, has the
// focus, so that Enter is enough.
func (i *Issuer) show(w http.ResponseWriter, req request, kept map[string]string, hint string) {
	focus := hint
	if _, known := i.person(hint); !known && len(i.people) > 0 {
		focus = i.people[0].Username
	}
	w.Header().Set("Content-Security-Policy", contentPolicy(origin(req.redirect)))
	writePage(w, http.StatusOK, view{Title: "Who are you today?", People: i.people, Fields: kept, Client: req.client.ID, Focus: focus})
}

// signIn handles the form of the page. No state is kept, so the complete request
// is checked again.
func (i *Issuer) signIn(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		problem(w, "The form cannot be read.")
		return
	}
	req, ok := i.accept(w, r, r.PostForm)
	if !ok {
		return
	}
	person, known := i.person(r.PostForm.Get("username"))
	if !known {
		problem(w, "No person has this user name.")
		return
	}
	code, ok := i.codes.issue(grant{client: req.client.ID, redirect: req.redirect, nonce: req.nonce, challenge: req.challenge, scope: req.scope, person: person})
	if !ok {
		i.refuse(w, r, req, "temporarily_unavailable", "Too many sign-ins are under way.")
		return
	}
	i.answer(w, r, req, url.Values{"code": {code}})
}

// accept checks an authorization request and answers a wrong one itself. Until
// client and redirect address are verified, nothing is sent there.
func (i *Issuer) accept(w http.ResponseWriter, r *http.Request, q url.Values) (request, bool) {
	client, known := i.client(q.Get("client_id"))
	if !known || len(q["client_id"]) != 1 {
		problem(w, "No such client is registered here.")
		return request{}, false
	}
	redirect := q.Get("redirect_uri")
	if len(q["redirect_uri"]) != 1 || !slices.Contains(client.RedirectURIs, redirect) {
		problem(w, "The client did not register this redirect address.")
		return request{}, false
	}
	req := request{client: client, redirect: redirect, state: q.Get("state"), nonce: q.Get("nonce"), challenge: q.Get("code_challenge"), scope: granted(q.Get("scope"))}
	if code, why := requestError(q); code != "" {
		i.refuse(w, r, req, code, why)
		return request{}, false
	}
	return req, true
}

// requestError returns what is wrong with the parameters, as an OAuth error code
// and a sentence for the client.
func requestError(q url.Values) (code, why string) {
	for name, values := range q {
		if len(values) > 1 {
			return "invalid_request", "The parameter " + name + " is there twice."
		}
	}
	switch {
	case q.Has("request") || q.Has("request_uri"):
		return "request_not_supported", "Request objects are not supported."
	case q.Get("response_type") != "code":
		return "unsupported_response_type", "Only the authorization code flow is supported."
	case !slices.Contains(strings.Fields(q.Get("scope")), "openid"):
		return "invalid_scope", "The scope must contain openid."
	case q.Get("code_challenge_method") != "S256" || !challenge.MatchString(q.Get("code_challenge")):
		return "invalid_request", "PKCE with S256 is required."
	}
	return "", ""
}

func (i *Issuer) refuse(w http.ResponseWriter, r *http.Request, req request, code, why string) {
	i.answer(w, r, req, url.Values{"error": {code}, "error_description": {why}})
}

// answer redirects the browser with the client's state and, by RFC 9207, our
// issuer URL. 303 turns the form's POST into a GET.
func (i *Issuer) answer(w http.ResponseWriter, r *http.Request, req request, values url.Values) {
	values.Set("iss", i.url)
	if req.state != "" {
		values.Set("state", req.state)
	}
	redirectWith(w, r, req.redirect, values)
}

func redirectWith(w http.ResponseWriter, r *http.Request, registered string, values url.Values) {
	u, err := url.Parse(registered) // valid: it was parsed when it was registered
	if err != nil {
		problem(w, "The registered address cannot be read.")
		return
	}
	q := u.Query()
	for name := range values {
		q.Set(name, values.Get(name))
	}
	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
}

// logout has no login session to end; it only redirects to a registered address
// of the client.
func (i *Issuer) logout(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	client, _ := i.client(q.Get("client_id"))
	back := q.Get("post_logout_redirect_uri")
	if back == "" || !slices.Contains(client.LogoutURIs, back) {
		writePage(w, http.StatusOK, view{Title: "You are signed out."})
		return
	}
	values := url.Values{}
	if q.Get("state") != "" {
		values.Set("state", q.Get("state"))
	}
	redirectWith(w, r, back, values)
}

// view is the page's content: people to choose from, or one message.
type view struct {
	Title   string
	Message string
	Client  string
	Focus   string
	People  []Person
	Fields  map[string]string
}

func problem(w http.ResponseWriter, message string) {
	writePage(w, http.StatusBadRequest, view{Title: "This sign-in cannot go on.", Message: message})
}

func writePage(w http.ResponseWriter, status int, v view) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, v) // the browser may have disconnected
}

func style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write([]byte(styleCSS))
}

func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
