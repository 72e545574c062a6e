package query

import (
	"strings"

	"countersign.dev/internal/domain/codesearch/words"
)

// abbreviations are what programmers shorten, by the stem of the long form. Each
// counts for the other.
var abbreviations = func() map[string][]string {
	all := map[string][]string{}
	for pair := range strings.FieldsSeq("authent:auth author:auth author:authz authent:authn databas:db config:cfg configur:config configur:cfg configur:conf context:ctx request:req respons:resp respons:res messag:msg error:err errors:err paramet:param argument:arg argument:args initi:init initialis:init temporari:tmp temporari:temp directori:dir number:num charact:char string:str integ:int pointer:ptr buffer:buf connect:conn document:doc document:docs environ:env environ:environment repositori:repo specif:spec synchron:sync asynchron:async statist:stat calcul:calc previous:prev current:cur maximum:max minimum:min averag:avg destin:dst sourc:src length:len index:idx iter:iterator expir:ttl certif:cert password:passwd credenti:cred crypto:cryptographi encrypt:cipher administr:admin applic:app command:cmd execut:exec languag:lang librari:lib manag:mgr packag:pkg process:proc reference:ref regular:regexp express:expr regex:regexp regexp:regex statement:stmt templat:tmpl transact:tx variabl:var attribut:attr allocat:alloc alloc:malloc delet:remov remov:delet delet:del creat:new dispos:close unmarshal:decod marshal:encod serial:marshal serial:encod serial:dump deserial:unmarshal deserial:decod pars:parser hash:digest log:logger termin:exit shutdown:stop cach:memoiz concurr:parallel mutex:lock lock:mutex url:uri uri:url convert:to multipl:multi") {
		long, short, _ := strings.Cut(pair, ":")
		all[long] = append(all[long], short)
		all[short] = append(all[short], long)
	}
	return all
}()

var (
	abbreviationWeight = 0.5
	synonymWeight      = 0.2
	insteadWeight      = 0.45 // of a word that code hardly has
	pairWeight         = 0.45
	prefixWeight       = 0.3
	namedWeight        = 0.1
)

const (
	minPrefix     = 4 // characters of a word that others may begin with
	maxExpansions = 16
	maxEnding     = 6 // bytes by which such words differ
)

// commonNames: a name that more than one in so many chunks have answers nothing.
const commonNames = 8

// hardly: code hardly has a word that less than one in so many chunks have.
const hardly = 500

// expand adds to each word its abbreviations, words that mean the same, names that answer it, the words of
// the indexes that begin with it, or that it begins with, and what it is part of.
func (p *Plan) expand(stats Statistics) {
	for i := range p.groups {
		g := &p.groups[i]
		p.joined(g)
		base := g.terms[0].text
		if p.symbol && i == 0 && len(p.groups) > 1 {
			continue // the name as a whole
		}
		for _, other := range abbreviations[base] {
			g.add(other, abbreviationWeight)
		}
		if !p.symbol {
			p.related(g, stats)
		}
		if !p.symbol && !p.topic {
			for _, other := range named[base] {
				if commonNames*stats.Frequency(other) < stats.Chunks() { // others tell little, and are slow to read
					g.add(other, namedWeight)
				}
			}
		}
		if len(base) < minPrefix {
			continue
		}
		for _, w := range stats.Beginning(base, maxExpansions) {
			if len(w.Text)-len(base) <= maxEnding && w.Frequency > 1 {
				g.add(w.Text, prefixWeight)
			}
		}
		for n := len(base) - 1; n >= max(minPrefix, len(base)-maxEnding); n-- {
			if stats.Frequency(base[:n]) > 1 {
				g.add(base[:n], prefixWeight)
			}
		}
	}
}

// related adds words that mean the same. They count more, and there are more of them, for a word that code
// hardly has: who asked for it did not know the code's own.
func (p *Plan) related(g *group, stats Statistics) {
	base, weight := g.terms[0].text, synonymWeight
	rare := hardly*stats.Frequency(base) < stats.Chunks()
	if rare {
		weight = insteadWeight
	}
	for _, other := range synonyms[base] {
		g.add(other, weight)
	}
	if rare {
		for _, other := range further[base] {
			g.add(other, weight)
		}
	}
}

// joined adds the names that a word makes with its neighbours: for "skip list" a
// skiplist is both, and a skipList more so than skip and list apart.
func (p *Plan) joined(g *group) {
	for _, pair := range p.pairs {
		if g.word == pair.first || g.word == pair.second {
			g.add(pair.joined, pairWeight)
			g.add(words.Stem(pair.joined), pairWeight)
		}
	}
}

// add adds a term that is not there yet.
func (g *group) add(text string, weight float64) {
	for _, t := range g.terms {
		if t.text == text {
			return
		}
	}
	if len(g.terms) <= maxExpansions {
		g.terms = append(g.terms, weighted{text, weight})
	}
}
