package codesearch

import (
	"cmp"
	"net/url"
	"path"
	"strconv"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
)

// Links are forms of a place's address on the web, by the host of the repository's remote. A form may have
// {group}, {name}, {commit}, {path}, {first} and {last}.
type Links map[string]string

// wellKnown are those that need no configuration.
var wellKnown = Links{
	"github.com":    "https://github.com/{group}/{name}/blob/{commit}/{path}#L{first}-L{last}",
	"gitlab.com":    "https://gitlab.com/{group}/{name}/-/blob/{commit}/{path}#L{first}-{last}",
	"bitbucket.org": "https://bitbucket.org/{group}/{name}/src/{commit}/{path}#lines-{first}:{last}",
	"codeberg.org":  "https://codeberg.org/{group}/{name}/src/commit/{commit}/{path}#L{first}-L{last}",
}

// onGitHub begins the addresses that document 004 has a field for.
const onGitHub = "https://github.com/"

// to is where lines of a file are on the web, in its commit; empty: it is not known.
func (l Links) to(m *index.Meta, file string, first, last int) string {
	host, project, _ := strings.Cut(strings.TrimPrefix(m.Remote, "https://"), "/")
	form := cmp.Or(l[host], wellKnown[host])
	if form == "" || m.Commit == "" {
		return ""
	}
	group, name := path.Split(project)
	return strings.NewReplacer(
		"{group}", strings.TrimSuffix(group, "/"), "{name}", name, "{commit}", m.Commit, "{path}", escaped(path.Join(m.Within, file)),
		"{first}", strconv.Itoa(first), "{last}", strconv.Itoa(last),
	).Replace(form)
}

// escaped is a path for an address, where it may be a path or a value after the question mark.
func escaped(file string) string {
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(parts[i]), "+", "%20")
	}
	return strings.Join(parts, "/")
}

// page is the address of a repository on GitHub; empty: it is elsewhere.
func page(m *index.Meta) string {
	if strings.HasPrefix(m.Remote, onGitHub) {
		return m.Remote
	}
	return ""
}
