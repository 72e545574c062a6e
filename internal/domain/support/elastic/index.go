package elastic

import (
	"context"
	"fmt"
	"maps"
	"unicode"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/elasticsearch"
)

// Migrate makes the indices that are missing. Those that are there get
// the fields that earlier versions did not have, and otherwise stay as they are.
func (e *Store) Migrate(ctx context.Context) error {
	later := map[kind]object{tickets: stemFields(), articles: stemFields()}
	later[tickets]["closed_at"] = date()
	for k, fields := range map[kind]object{tickets: ticketFields(), articles: articleFields()} {
		maps.Copy(fields, later[k])
		body := object{"settings": e.settings(k), "mappings": object{"dynamic": "strict", "properties": fields}}
		err := e.Send(ctx, esapi.IndicesCreateRequest{Index: e.indices[k], Body: elasticsearch.JSON(body)}, new(object))
		if elasticsearch.Refused(err, elasticsearch.IndexExists) {
			err = e.Send(ctx, esapi.IndicesPutMappingRequest{Index: []string{e.indices[k]}, Body: elasticsearch.JSON(object{"properties": later[k]})}, new(object))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settings are those of an index. Its analyzer cuts words as words.go does. It
// is sorted newest first, as lists without words are shown, so that a page of them
// ends where it is full, and not at the last document.
func (e *Store) settings(k kind) object {
	index := object{
		"number_of_shards": 1, "auto_expand_replicas": "0-1",
		"sort.field": []string{"created_at", idField(k)}, "sort.order": []string{"desc", "desc"},
	}
	if e.refresh > 0 {
		index["refresh_interval"] = fmt.Sprintf("%dms", e.refresh.Milliseconds())
	}
	return object{"index": index, "analysis": object{
		"char_filter": object{"plain": object{"type": "mapping", "mappings": foldings()}},
		"tokenizer":   object{"words": object{"type": "pattern", "pattern": `[^\p{L}\p{M}\p{N}]+`}},
		"analyzer":    object{"words": object{"type": "custom", "char_filter": []string{"plain"}, "tokenizer": "words", "filter": []string{"lowercase"}}},
	}}
}

// foldings are the rules of fold that lower case alone does not keep.
func foldings() (rules []string) {
	const beyondLatin = '\u2c00'
	for r := rune(0x80); r < beyondLatin; r++ {
		if folded := support.Fold(r); folded != string(unicode.ToLower(r)) {
			rules = append(rules, string(r)+"=>"+folded)
		}
	}
	return rules
}

func keyword() object { return object{"type": "keyword"} }

func date() object { return object{"type": "date"} }

// searchedField is a field whose words are searched.
func searchedField(kind string) object { return object{"type": kind, "copy_to": wordsField} }

// The fields of stems: of all searched texts, and of the head.
const (
	stemsField     = "stems"
	headStemsField = "head_stems"
)

// stem is a field that holds stems.
func stem() object { return object{"type": "keyword", "doc_values": false} }

func stemFields() object { return object{stemsField: stem(), headStemsField: stem()} }

// head is a field whose words count more.
func head() object {
	return object{"type": "text", "analyzer": "words", "copy_to": wordsField}
}

// body is a field that is kept for reading, and searched through its copy.
func body() object {
	return object{"type": "text", "index": false, "norms": false, "copy_to": wordsField}
}

// kept is a text that is stored and not searched.
func kept() object { return object{"type": "keyword", "index": false, "doc_values": false} }

func ticketFields() object {
	return object{
		wordsField:  object{"type": "text", "analyzer": "words"},
		"ticket_id": searchedField("keyword"), "subject": head(), "description": body(), "status": keyword(), "priority": keyword(),
		"customer_id": keyword(), "customer_name": searchedField("keyword"), "customer_email": kept(), "assigned_to": keyword(),
		"category": searchedField("keyword"), "tags": searchedField("keyword"),
		"created_at": date(), "updated_at": date(), "resolved_at": date(),
		"resolution": kept(), "resolution_type": keyword(), "customer_notified": object{"type": "boolean"}, "closed_by": keyword(),
		"confirmation": object{"properties": object{
			"id": keyword(), "owner": object{"properties": object{"iss": keyword(), "sub": keyword()}}, "tool": keyword(), "receipt": kept(),
		}},
	}
}

func articleFields() object {
	return object{
		wordsField:   object{"type": "text", "analyzer": "words"},
		"article_id": searchedField("keyword"), "title": head(), "summary": body(), "content": body(), "category": searchedField("keyword"), "tags": searchedField("keyword"),
		"author": keyword(), "status": keyword(), "view_count": object{"type": "integer"}, "helpful_votes": object{"type": "integer"},
		"created_at": date(), "updated_at": date(),
	}
}

func idField(k kind) string { return [...]string{"ticket_id", "article_id"}[k] }
