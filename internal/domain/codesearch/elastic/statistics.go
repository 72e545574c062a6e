package elastic

import (
	"context"
	"slices"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
	"countersign.dev/internal/elasticsearch"
	"countersign.dev/internal/fault"
)

// statistics are of all chunks of the indices that are searched. How many chunks have a
// word is written with an index and kept in memory while it is searched: asking the
// engine took as long as everything else.
type statistics struct {
	query.Statistics
	chunks int
}

// Chunks implements [query.Statistics].
func (s statistics) Chunks() int { return s.chunks }

// statistics are those of indices that are there.
func (s *Store) statistics(ctx context.Context, all []serving) (statistics, error) {
	var shards []query.Shard
	chunks := 0
	for _, one := range all {
		words, err := s.wordsOf(ctx, one)
		if err != nil {
			return statistics{}, err
		}
		shards = append(shards, query.Shard{Index: words})
		chunks += one.meta.Chunks
	}
	return statistics{query.Local(shards), chunks}, nil
}

// wordsOf counts the chunks of an index by their words.
func (s *Store) wordsOf(ctx context.Context, one serving) (*index.Index, error) {
	s.mu.Lock()
	words, ok := s.words[one.index]
	s.mu.Unlock()
	if ok {
		return words, nil
	}
	packed, err := s.packedWords(ctx, one)
	if err != nil {
		return nil, err
	}
	if words, err = index.Words(packed); err != nil {
		return nil, fault.StoreFailed("code search store", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil {
		s.words = map[string]*index.Index{}
	}
	s.words[one.index] = words
	return words, nil
}

// wordsPart is how many bytes of packed words one document has.
const wordsPart = 4 << 20

// packedWords reads the words of an index, as [index.Dictionary.Pack] wrote them.
func (s *Store) packedWords(ctx context.Context, one serving) (packed []byte, _ error) {
	var ids []object
	for part := range one.parts {
		ids = append(ids, object{"_index": one.index, "_id": wordsID(part)})
	}
	var answer struct {
		Docs []struct {
			Found  bool
			Error  *elasticsearch.ErrorBody
			Source struct{ Text []byte } `json:"_source"`
		}
	}
	if err := s.Send(ctx, esapi.MgetRequest{Body: elasticsearch.JSON(object{"docs": ids})}, &answer); err != nil {
		return nil, err
	}
	for _, d := range answer.Docs {
		switch {
		case d.Error != nil:
			return nil, s.Fault(&elasticsearch.Error{Status: 404, Type: d.Error.Type})
		case !d.Found:
			return nil, errMissing
		}
		packed = append(packed, d.Source.Text...)
	}
	return packed, nil
}

// count brings the words of the index before up to date, and returns them in parts.
func (s *Store) count(ctx context.Context, live serving, changed []index.Entry, gone []index.File) ([][]byte, error) {
	words := index.Dictionary{}
	if live.good() {
		packed, err := s.packedWords(ctx, live)
		if err != nil {
			return nil, err
		}
		if words, err = index.UnpackDictionary(packed); err != nil {
			return nil, fault.StoreFailed("code search store", err)
		}
	}
	for i := range changed {
		words.Add(&changed[i])
	}
	for some := range slices.Chunk(gone, batchFiles) {
		if err := s.uncount(ctx, words, live, some); err != nil {
			return nil, err
		}
	}
	return slices.Collect(slices.Chunk(words.Pack(), wordsPart)), nil
}

// uncount takes away what files of the index before had.
func (s *Store) uncount(ctx context.Context, words index.Dictionary, live serving, gone []index.File) error {
	var ids []fileID
	for _, f := range gone {
		ids = append(ids, fileID{live.index, digest(f.Path)})
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	docs, err := s.fetch(ctx, ids, false)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if err := words.Remove(d.Packed); err != nil {
			return fault.StoreFailed("code search store", err)
		}
	}
	return nil
}
