package query

import (
	"cmp"
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
	may := mayHave(sought, all)
	if s.read != nil {
		if err := s.read(filesOf(may)); err != nil {
			return err
		}
	}
	for _, c := range may {
		if share := s.shards[c.Shard].said(c, sought); share >= phrase.MinShare {
			c.add("phrase", "words of the query in its order", best*phraseWeight*share)
		}
	}
	return nil
}

// said is how much the text of a candidate has of a phrase. One that cannot be read has nothing.
func (s *shardSearch) said(c *candidate, sought []phrase.Phrase) (share float64) {
	chunk := s.Chunks[c.Chunk]
	text, err := s.TextOf(s.text, &s.Files[c.file], int(chunk.Start), int(min(chunk.End, chunk.Start+mostLooked)))
	if err != nil {
		return 0
	}
	s.text = text
	for _, p := range sought {
		share = max(share, p.Share(text))
	}
	return share
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
func mayHave(sought []phrase.Phrase, all []*candidate) (may []*candidate) {
	for _, c := range all {
		c.saying = 0
		for _, p := range sought {
			c.saying = max(c.saying, p.Most(c.Groups))
		}
		if c.saying >= phrase.MinShare {
			may = append(may, c)
		}
	}
	slices.SortFunc(may, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.saying, a.saying), better(a, b)) })
	return may[:min(len(may), mostRead)]
}

// filesOf are the files of candidates, each once.
func filesOf(all []*candidate) (files []FileOf) {
	for _, c := range all {
		if at := (FileOf{c.Shard, c.file}); !slices.Contains(files, at) {
			files = append(files, at)
		}
	}
	return files
}
