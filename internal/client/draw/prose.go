package draw

import "strings"

// Prose is a text of markdown that arrives in pieces. A terminal renders none of it, so
// backslashes that keep a character from being markup are left out there, but not in code.
type Prose struct{ slash, code bool }

// Read returns a piece as a terminal shows it. A backslash at its end waits for the next.
func (p *Prose) Read(piece string) string {
	var b strings.Builder
	for _, r := range piece {
		if p.slash && !strings.ContainsRune("\\`*_{}[]()#+-.!|~<>:", r) {
			b.WriteByte('\\')
		}
		if r == '`' && !p.slash {
			p.code = !p.code
		}
		if p.slash = r == '\\' && !p.slash && !p.code; !p.slash {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// End returns what waits when the text has ended, and forgets it.
func (p *Prose) End() string {
	waits := ""
	if p.slash {
		waits = `\`
	}
	*p = Prose{}
	return waits
}
