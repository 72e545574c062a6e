package agent

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/guard/wish"
	"countersign.dev/internal/result"
)

// Bounds of the untrusted texts that are named and searched.
const (
	maxSources = 4       // that are named
	maxTainted = 4 << 20 // bytes of text in which tools are looked for
)

// taint is the untrusted text that the model of a turn has read, in its results and
// in those of the conversation.
type taint struct {
	texts []untrustedText
	size  int
}

// untrustedText is the untrusted text of one row.
type untrustedText struct {
	source access.Source
	text   []byte
}

// read adds the untrusted text of a result.
func (t *taint) read(r CallResult, info *Tool) {
	if !r.Untrusted {
		return
	}
	whole := access.Source{Tool: cleanName(r.Tool)}
	tree, err := result.ParseData(r.Answer)
	if err != nil {
		t.add(whole, string(r.Answer))
		return
	}
	own := info != nil && !slices.Contains(info.Untrusted, result.Everything)
	t.walk(tree, whole, own)
}

// walk adds the marked texts of a value. Rows of our own servers are named; the names that another server gives its rows are untrusted, too.
func (t *taint) walk(value any, source access.Source, own bool) {
	switch v := value.(type) {
	case result.Row:
		if row := nameOf(v, noun(source.Tool)); own && row.ID != "" {
			source = row
		}
		for _, key := range v.Keys {
			if !own { // another server's names are its text, too
				t.add(source, key)
			}
			t.walk(v.Values[key], source, own)
		}
	case []any:
		for _, item := range v {
			t.walk(item, source, own)
		}
	case string:
		if text := result.Unmark(v); text != v {
			t.add(source, text)
		}
	}
}

func (t *taint) add(source access.Source, text string) {
	last := len(t.texts) - 1
	if last < 0 || t.texts[last].source != source {
		t.texts = append(t.texts, untrustedText{source: source})
		last++
	}
	if t.size += len(text); t.size <= maxTainted {
		t.texts[last].text = append(append(t.texts[last].text, text...), '\n')
	}
}

var (
	plainID   = regexp.MustCompile(`^[\w-]{1,40}$`)
	publicID  = regexp.MustCompile(`^[A-Z]{1,6}(?:-\d{1,8}){1,3}$`)
	readable  = regexp.MustCompile(`^[\p{L}\d](?:[\p{L}\d .,&'+/-]{0,48}[\p{L}\d.])?$`)
	plainName = regexp.MustCompile(`[^\w.-]+`)
)

// shortID is the longest id that people use as a name: TICK-009 and 12, but no UUID.
const shortID = 12

// nameOf names a row by its number as people know it, else by its id and, where that is
// long, by its own name, or by whom it is about. kind is that of a row whose id has none.
func nameOf(row result.Row, kind string) (source access.Source) {
	for _, key := range row.Keys {
		text := row.Text(key)
		name, isID := strings.CutSuffix(key, "_id")
		switch number, isNumber := strings.CutSuffix(key, "_number"); {
		case text == "":
		case isNumber && publicID.MatchString(result.Unmark(text)):
			return access.Source{Kind: number, ID: result.Unmark(text)}
		case isID && source.ID == "" && plainID.MatchString(text):
			source = access.Source{Kind: cmp.Or(name, kind), ID: text}
		}
	}
	if len(source.ID) > shortID {
		source.Name, source.About = rowNames(row, source.Kind)
	}
	return source
}

// rowNames returns a row's own name, or that of the first thing that it is about. They may be what
// others wrote: people see them in quotation marks, which no name has.
func rowNames(row result.Row, kind string) (own, about string) {
	for _, key := range row.Keys {
		named, isName := strings.CutSuffix(key, "_name")
		text := result.Unmark(row.Text(key))
		switch {
		case !isName && key != "name" && key != "title" || !readable.MatchString(text):
		case !isName || named == kind:
			return text, ""
		case about == "":
			about = text
		}
	}
	return "", about
}

// noun is what a tool is about, by its name: a deal of list_deals.
func noun(tool string) string {
	if _, about, found := strings.Cut(tool, "_"); found {
		return strings.TrimSuffix(about, "s")
	}
	return "row"
}

func cleanName(name string) string {
	return plainName.ReplaceAllString(name[:min(len(name), 60)], "")
}

// sources names what the model has read, newest first, and before that what names
// the tool.
func (t *taint) sources(info *Tool) (sources []access.Source) {
	known := make(map[access.Source]bool, len(t.texts))
	add := func(u untrustedText) {
		if known[u.source] {
			return
		}
		if known[u.source] = true; len(sources) < maxSources {
			sources = append(sources, u.source)
		}
	}
	for _, i := range slices.Backward(t.naming(info)) {
		add(t.texts[i])
	}
	for _, u := range slices.Backward(t.texts) {
		add(u)
	}
	if more := len(known) - len(sources); more > 0 {
		sources = append(sources, access.Source{More: more})
	}
	return sources
}

// naming are the texts that name a tool which changes something.
func (t *taint) naming(info *Tool) (naming []int) {
	if info == nil || info.Kind != result.Write && info.Kind != result.Edit {
		return nil
	}
	for i := range t.texts {
		if wish.NamedIn(info.ToolInfo, string(t.texts[i].text)) {
			naming = append(naming, i)
		}
	}
	return naming
}

// mark returns the context of a call with what the model had read before it.
func (t *taint) mark(ctx context.Context, info *Tool) context.Context {
	if len(t.texts) == 0 {
		return ctx
	}
	return access.Tainted(ctx, t.sources(info))
}

// refuse returns the fault of a call of a tool that changes something, when
// untrusted text names the tool and the person did not ask for it. When there is
// more text than is searched, any may name it.
func (t *taint) refuse(info *Tool, asked []string) error {
	naming := t.naming(info)
	if len(naming) == 0 && (t.size <= maxTainted || info.Kind == result.Read || info.Kind == result.List) || wish.AskedFor(info.ToolInfo, asked) {
		return nil
	}
	source := "untrusted text"
	if len(naming) > 0 {
		source = t.texts[naming[len(naming)-1]].source.String()
	}
	return fault.NotAskedFor.New("%s was not called: %s asks for it, and the person did not.", info.Name, source).With("source", source)
}

// taintOf returns the untrusted text that the conversation has before the question.
func taintOf(history []Message, tools Toolset) (t taint) {
	for _, m := range history {
		for _, r := range m.Results() {
			t.read(r, tools.open(r.Tool))
		}
	}
	return t
}

// asked are the person's own words in the conversation.
func asked(history []Message, question string) []string {
	texts := []string{question}
	for _, m := range history {
		if m.Role == User {
			texts = append(texts, m.Text())
		}
	}
	return texts
}
