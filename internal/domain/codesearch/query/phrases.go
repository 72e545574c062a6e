package query

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/phrase"
)

// phraseWeight is what a phrase weighs that a chunk has as a whole, in parts of the best
// score before it.
const phraseWeight = 2

const (
	mostRead   = 16       // chunks whose texts are read
	mostLooked = 32 << 10 // bytes of each: more is data
)

// sayAlike raises chunks that have a phrase of the query nearly word for word: who asks with
// a message that a program printed looks for where it is made.
func (s *search) sayAlike(all []*candidate, best float64) error {
	sought := phrase.Of(s.Text, s.symbol, s.known)
	if len(sought) == 0 {
		return nil
	}
	may := mayHave(s.shards, sought, all)
	texts, err := textsOf(may, s.shards, s.read)
	if err != nil {
		return err
	}
	for _, c := range may {
		text, chunk, share := texts[FileOf{c.Shard, c.file}], s.shards[c.Shard].Chunks[c.Chunk], 0.0
		if text == nil {
			continue
		}
		text = text[chunk.Start:min(chunk.End, chunk.Start+mostLooked)]
		for _, p := range sought {
			share = max(share, p.Share(text))
		}
		if share >= phrase.MinShare {
			c.add("phrase", "words of the query in its order", best*phraseWeight*share)
		}
	}
	return nil
}

// known is what the plan knows of a word of the query. What no chunk has counts nothing: it may
// have been filled in.
func (p *Plan) known(word string) phrase.Word {
	for i, g := range p.groups {
		switch {
		case !strings.EqualFold(g.word, word):
		case p.nowhere[i]:
			return phrase.Word{Group: i}
		default:
			return phrase.Word{Group: i, Worth: g.weight * p.idf[i]}
		}
	}
	return phrase.Word{Group: -1}
}

// mayHave are the candidates that have the words of a phrase, those with most of them first.
func mayHave(shards []*shardSearch, sought []phrase.Phrase, all []*candidate) (may []*candidate) {
	shares := map[*candidate]float64{}
	for _, c := range all {
		for _, p := range sought {
			shares[c] = max(shares[c], p.Most(shards[c.Shard].chunks[c.Chunk].groups))
		}
		if shares[c] >= phrase.MinShare {
			may = append(may, c)
		}
	}
	slices.SortFunc(may, func(a, b *candidate) int { return cmp.Or(cmp.Compare(shares[b], shares[a]), better(a, b)) })
	return may[:min(len(may), mostRead)]
}

// textsOf are those of the files of candidates. One that cannot be read is not there.
func textsOf(all []*candidate, shards []*shardSearch, read func([]FileOf) error) (map[FileOf][]byte, error) {
	texts := map[FileOf][]byte{}
	for _, c := range all {
		texts[FileOf{c.Shard, c.file}] = nil
	}
	if read != nil {
		if err := read(slices.Collect(maps.Keys(texts))); err != nil {
			return nil, err
		}
	}
	for at := range texts {
		if text, err := shards[at.Shard].Text(&shards[at.Shard].Files[at.File]); err == nil {
			texts[at] = text
		}
	}
	return texts, nil
}
