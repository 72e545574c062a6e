package elastic

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/tally"
)

// version is that of the documents and of what they pack. Another one is refused.
const version = 13

// description is what an index says of itself, in the _meta of its mappings.
type description struct {
	Version    int        `json:"version"`
	Repository index.Meta `json:"repository"`
	Words      int        `json:"words"` // documents of them
	Made       time.Time  `json:"made"`
}

// The fields of documents. Chunks have terms, names and of; files have kind, about,
// analysis and text. Both have the fields of filters. Documents of words, which count
// chunks, have kind and text.
const (
	kindField     = "kind"
	pathField     = "path"
	languageField = "language"
	termsField    = "terms"    // each term as often as it counts, for the order of candidates
	namesField    = "names"    // what the chunk defines
	ofField       = "of"       // the document of the chunk's file
	aboutField    = "about"    // [index.File] as JSON
	analysisField = "analysis" // what [index.Entry.Pack] wrote
	textField     = "text"

	fileKind  = "file"
	wordsKind = "words"
)

// wordsID is the document of a part of the words.
func wordsID(part int) string { return fmt.Sprint(wordsKind, "-", part) }

func keyword() object { return object{"type": "keyword", "doc_values": false, "norms": false} }

// definition is the settings and mappings of a new index. Its analyser splits at
// spaces alone: package words has made the terms, so that both stores and the query
// have the same ones, whatever the engine's own filters do with identifiers.
func definition() object {
	return object{
		"settings": object{"index": object{
			"number_of_shards": 1, "auto_expand_replicas": "0-1", "refresh_interval": "-1",
			"similarity": object{"code": object{"type": "BM25", "k1": tally.K1, "b": tally.B}},
			"analysis":   object{"analyzer": object{"identifiers": object{"type": "custom", "tokenizer": "whitespace"}}},
		}},
		"mappings": object{
			"dynamic": "strict",
			"_source": object{"excludes": []string{termsField, namesField, languageField, ofField, aboutField, analysisField}},
			"properties": object{
				kindField: keyword(), languageField: keyword(), namesField: keyword(),
				pathField:     object{"type": "keyword"},
				ofField:       object{"type": "keyword", "index": false},
				termsField:    object{"type": "text", "analyzer": "identifiers", "similarity": "code", "index_options": "freqs"},
				aboutField:    object{"type": "binary", "doc_values": true}, // read without the text beside it
				analysisField: object{"type": "binary", "doc_values": true},
				textField:     object{"type": "binary"},
			},
		},
	}
}

// document is a document on its way to the server.
type document struct {
	Kind     string   `json:"kind,omitempty"`
	Path     string   `json:"path,omitempty"`
	Language string   `json:"language,omitempty"`
	Terms    string   `json:"terms,omitempty"`
	Names    []string `json:"names,omitempty"`
	Of       string   `json:"of,omitempty"`
	About    []byte   `json:"about,omitempty"`
	Analysis []byte   `json:"analysis,omitempty"`
	Text     []byte   `json:"text,omitempty"`
}

// documents are those of a file: first its own, then those of its chunks.
func documents(e *index.Entry) ([]document, error) {
	about, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	analysis, text := e.Pack()
	language := strings.ToLower(e.Language)
	all := []document{{Kind: fileKind, Path: e.Path, Language: language, About: about, Analysis: analysis, Text: text}}
	for _, c := range e.Contents() {
		d := document{Path: e.Path, Language: language, Names: c.Defined, Of: digest(e.Path)}
		var terms []string
		for term, payload := range c.Terms {
			for range counted(payload) {
				terms = append(terms, term)
			}
		}
		d.Terms = strings.Join(terms, " ")
		all = append(all, d)
	}
	return all, nil
}

// counted is how often the ranking counts a term with its payload, in whole numbers.
func counted(p index.Payload) int { return max(1, int(math.Round(float64(tally.Frequency(p))))) }
