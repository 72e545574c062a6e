package elastic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/elasticsearch"
	"countersign.dev/internal/fault"
)

// hit is a document that a search found, with what the search asked of it.
type hit struct {
	Index  string `json:"_index"`
	Fields struct {
		Of              []string
		About, Analysis []encoded
	}
	Source   struct{ Text []byte } `json:"_source"`
	SortedAt json.RawMessage       `json:"sort"`
}

// encoded are bytes of a field. Engines write them as base64 in either alphabet, with
// padding or without.
type encoded []byte

// UnmarshalJSON implements [json.Unmarshaler].
func (e *encoded) UnmarshalJSON(text []byte) (err error) {
	text = bytes.TrimRight(bytes.Trim(text, `"`), "=")
	alphabet := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		alphabet = base64.RawURLEncoding
	}
	*e, err = alphabet.AppendDecode(nil, text)
	return err
}

// errMissing reports a document that is not there.
var errMissing = errors.New("the store has no such document")

// read reads documents of files that are there, in some order. An index is written
// once, so that what was read of it stays true.
func (s *Store) read(ctx context.Context, files []fileID, text bool) ([]stored, error) {
	known, unknown := s.files.find(files, text)
	if len(unknown) == 0 {
		return known, nil
	}
	read, err := s.fetch(ctx, unknown, text)
	if err != nil {
		return nil, err
	}
	s.files.add(read)
	return append(known, read...), nil
}

func (s *Store) fetch(ctx context.Context, files []fileID, text bool) (all []stored, _ error) {
	asked := map[string][]string{}
	for _, f := range files {
		asked[f.index] = append(asked[f.index], f.id)
	}
	var searches []lookup
	for name, ids := range asked {
		body := object{"size": len(ids), "query": object{"ids": object{"values": ids}}, "sort": []string{"_doc"}, "track_total_hits": false, "docvalue_fields": []string{aboutField, analysisField}}
		if body["_source"] = []string{textField}; !text {
			delete(body, "_source")
			body["stored_fields"] = "_none_"
		}
		searches = append(searches, lookup{[]string{name}, body})
	}
	answers, err := s.search(ctx, "", searches...)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		for _, h := range a.Hits.Hits {
			one, err := h.file()
			if err != nil {
				return nil, fault.StoreFailed("code search store", err)
			}
			all = append(all, one)
		}
	}
	if len(all) != len(files) {
		return nil, errMissing
	}
	return all, nil
}

// file is the document of a file that was found.
func (h hit) file() (s stored, err error) {
	if len(h.Fields.About) != 1 || len(h.Fields.Analysis) > 1 {
		return s, errMissing
	}
	err = json.Unmarshal(h.Fields.About[0], &s.File)
	if len(h.Fields.Analysis) > 0 {
		s.Analysis = h.Fields.Analysis[0]
	}
	s.at, s.text = fileID{h.Index, digest(s.Path)}, h.Source.Text
	return s, err
}

// lookup is a search in some indices, which are named in the body: an address would be
// too short for many.
type lookup struct {
	indices []string
	body    object
}

// answered is the answer to one of several searches.
type answered struct {
	Status   int
	Error    *elasticsearch.ErrorBody
	TimedOut bool                 `json:"timed_out"`
	Shards   struct{ Failed int } `json:"_shards"`
	Hits     struct{ Hits []hit }
}

// search asks several searches at once. What a part of them cannot answer, none does:
// half an answer looks like a whole one. Searches with the same preference ask the same
// copies of the indices, which number equal documents alike.
func (s *Store) search(ctx context.Context, preference string, searches ...lookup) ([]answered, error) {
	var lines []any
	for _, one := range searches {
		kind := "query_then_fetch"
		if len(one.indices) > 1 { // words are as rare as they are in all of them together
			kind = "dfs_query_then_fetch"
		}
		lines = append(lines, object{"index": one.indices, "search_type": kind, "allow_partial_search_results": false, "preference": "code-" + preference}, one.body)
	}
	body, err := elasticsearch.Lines(lines...)
	if err != nil {
		return nil, err
	}
	var answer struct{ Responses []answered }
	if err := s.Send(ctx, esapi.MsearchRequest{Body: body}, &answer); err != nil {
		return nil, err
	}
	for _, a := range answer.Responses {
		switch {
		case a.Error != nil:
			kind := a.Error.Type
			if len(a.Error.Roots) > 0 {
				kind = cmp.Or(a.Error.Roots[0].Type, kind)
			}
			return nil, s.Fault(&elasticsearch.Error{Status: a.Status, Type: kind})
		case a.TimedOut || a.Shards.Failed > 0:
			return nil, s.Fault(&elasticsearch.Error{Status: http.StatusServiceUnavailable, Type: "partial"})
		}
	}
	if len(answer.Responses) != len(searches) {
		return nil, s.Fault(&elasticsearch.Error{Status: http.StatusServiceUnavailable, Type: "incomplete"})
	}
	return answer.Responses, nil
}
