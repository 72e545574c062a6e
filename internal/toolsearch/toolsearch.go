// Package toolsearch finds tools by what they are for: BM25 over the stems of their
// names, descriptions, fields and synonyms.
//
// It knows no model and no server. Start with [New].
package toolsearch

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// How much a word counts by its place.
const (
	inName        = 3
	inTitle       = 2
	inDescription = 1
	inFields      = 1
)

// The usual parameters of BM25: how soon more of the same word counts less, and how
// much a long declaration counts less than a short one.
const (
	saturation = 1.2
	lengthPart = 0.75
)

// Index is an index of tools. It does not change once made.
type Index struct {
	names   []string
	lengths []float64
	mean    float64
	words   map[string]map[int]float64 // weight of a stem by tool
}

// New indexes tools.
func New(tools []result.ToolInfo) *Index {
	x := &Index{words: make(map[string]map[int]float64)}
	for i, t := range tools {
		x.names = append(x.names, t.Name)
		x.lengths = append(x.lengths, 0)
		x.add(i, t.Name, inName)
		x.add(i, t.Title, inTitle)
		x.add(i, t.Description, inDescription)
		for _, p := range schema.Properties(t.InputSchema) {
			x.add(i, p.Name+" "+p.Description, inFields)
		}
		if t.Fields != nil {
			x.add(i, strings.Join(t.Fields.Synonyms, " "), inFields)
			for name, f := range t.Fields.Output {
				x.add(i, name+" "+strings.Join(f.Synonyms, " "), inFields)
			}
		}
		x.mean += x.lengths[i] / float64(len(tools))
	}
	return x
}

func (x *Index) add(tool int, text string, weight float64) {
	for _, stem := range stems(text) {
		if x.words[stem] == nil {
			x.words[stem] = make(map[int]float64)
		}
		x.words[stem][tool] += weight
		x.lengths[tool] += weight
	}
}

// Search returns the names of at most so many tools, the best first. A tool that
// has no word of the query is not found.
func (x *Index) Search(query string, most int) []string {
	scores := make(map[int]float64)
	asked := stems(english.Plainly(strings.ToLower(query)))
	slices.Sort(asked)
	for _, stem := range slices.Compact(asked) {
		found := x.words[stem]
		for _, other := range english.Same(stem) { // of a word that no tool has
			if len(found) == 0 {
				found = x.words[other]
			}
		}
		n := float64(len(found))
		rarity := math.Log(1 + (float64(len(x.names))-n+0.5)/(n+0.5))
		for tool, weight := range found {
			scores[tool] += rarity * weight * (saturation + 1) / (weight + saturation*(1-lengthPart+lengthPart*x.lengths[tool]/x.mean))
		}
	}
	order := make([]int, 0, len(scores))
	for tool := range scores {
		order = append(order, tool)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(x.names[a], x.names[b]))
	})
	names := make([]string, 0, most)
	for _, tool := range order[:min(len(order), most)] {
		names = append(names, x.names[tool])
	}
	return names
}

// common are more words that say nothing of what a tool is for.
var common = strings.Fields("give i if list me my one show")

// stems splits a text into the stems of its words: my_tool and myTool are two.
func stems(text string) (all []string) {
	for _, w := range english.Words(text) {
		if !slices.Contains(common, w) && !slices.Contains(english.Function, w) {
			all = append(all, english.Stem(w))
		}
	}
	return all
}
