package english

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Stem cuts a word in lower case to what its forms share, which need not be a word
// (Snowball's English stemmer). Stems of words of ordinary length are kept: a planner asks
// for those of the same few hundred words for every tool and every field of it.
func Stem(word string) string {
	if len(word) > keptLength {
		return stem(word)
	}
	kept := &stems[maphash.String(seed, word)%uint64(len(stems))]
	if k := kept.Load(); k != nil && k.word == word {
		return k.stem
	}
	k := &stemmed{strings.Clone(word), stem(word)} // a clone: the word may be cut from a text of any length
	kept.Store(k)
	return k.stem
}

// stems has one word for each remainder of a hash, the last that was asked for: a bounded
// memory without a lock, whatever words people write.
var (
	stems [4096]atomic.Pointer[stemmed]
	seed  = maphash.MakeSeed()
)

const keptLength = 24 // bytes of a word whose stem is kept

type stemmed struct{ word, stem string }

func stem(word string) string {
	for _, apart := range []string{"engineer", "importan", "business"} { // which mean no engine, no import, and not to be busy
		if strings.HasPrefix(word, apart) {
			return apart
		}
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}
