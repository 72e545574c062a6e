package vocabulary

import (
	_ "embed"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/words"
)

// related are words that programmers use for each other, one group to a line. They
// are general English of programming: none was chosen for a question of a benchmark.
const related = `
add append insert put push register
allow permit grant authorize
answer reply response respond return
argument parameter option flag
array list slice vector sequence
ask prompt request
assert check ensure validate verify
attach bind connect link
authenticate login signin credential
begin start init open launch
block wait park suspend
break split divide cut
build make create construct generate produce
call invoke run execute
callback handler listener hook observer subscriber
cancel abort stop interrupt
change modify update edit mutate alter
choose select pick resolve determine decide
clean clear reset purge flush
close shutdown dispose finish end terminate
collect gather accumulate aggregate
combine merge join concat compose
compare equal match diff
compress deflate gzip zip pack
decompress inflate gunzip unzip unpack
concurrent parallel async
configuration setting option preference
convert transform translate map cast turn
copy clone duplicate
count number total
date time timestamp
deadline timeout expire
decode parse unmarshal deserialize read
encode marshal serialize dump write format
default fallback
delay sleep defer postpone
delete remove drop evict discard unlink erase
describe document explain
detect find discover recognize guess sniff infer
dispatch route deliver
display show print render draw format
download fetch retrieve get load read obtain
error exception failure fault panic
escape quote encode
event message notification signal
exclude ignore skip omit filter
exit quit terminate kill
expand extend grow resize
expire evict stale
fail reject
fast speed performance rate
folder directory
frame packet message
function method procedure routine
group batch set
hide mask conceal
hold keep retain store save persist
identifier id key name
inherit extend derive subclass
inject provide supply
item element entry member
iterate loop walk traverse visit
limit maximum bound throttle cap restrict
log print trace record
lookup find search resolve
measure time profile benchmark metric
memory heap
middleware interceptor filter
module package library
move rename shift
node vertex
notify emit publish trigger fire broadcast
path route url
plugin extension addon
position offset index location
prevent avoid protect guard
property attribute field
queue backlog buffer
random shuffle
receive accept
recover rescue catch
redirect follow location
reject deny refuse forbid
repeat retry again backoff
replace substitute swap
role permission right
schedule plan cron
secure encrypt protect tls ssl
send write post emit transmit
share common global
sign seal
sort order rank
spawn fork launch
state status
subscribe listen watch monitor observe
synchronize lock
task job work
template view layout
terminal console tty
thread goroutine worker
throw raise
tree hierarchy
trim strip
undo rollback revert
unique distinct dedupe
upgrade migrate
user account person
version revision
warn alert
wrap decorate`

// Synonyms are words that mean the same as a stem.
func Synonyms(stem string) []string { return synonyms[stem] }

var synonyms = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(related) {
		var stems []string
		for word := range strings.FieldsSeq(line) {
			stems = append(stems, words.Stem(word))
		}
		for _, stem := range stems {
			for _, other := range stems {
				if stem != other && !slices.Contains(all[stem], other) {
					all[stem] = append(all[stem], other)
				}
			}
		}
	}
	return all
}()

// furtherText has a word to a line, and words that code may have in its place. They are looser than
// those that are related, and count only for words that the indexes hardly have.
//
//go:embed further.txt
var furtherText string

// Instead are words that code may have in the place of one that it hardly has.
func Instead(stem string) []string { return further[stem] }

var further = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(furtherText) {
		first, others, _ := strings.Cut(line, " ")
		stem := words.Stem(first)
		for other := range strings.FieldsSeq(others) {
			all[stem] = append(all[stem], words.Stem(other))
		}
	}
	return all
}()

// namedText has to a line the stems of a word and of the parts of names that answer it. bench/codesearch learned it from
// comments.
//
//go:embed named.txt
var namedText string

// Named are parts of the names of what comments with a word are about.
func Named(stem string) []string { return named[stem] }

var named = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(namedText) {
		if stems := strings.Fields(line); len(stems) > 0 {
			all[stems[0]] = stems[1:]
		}
	}
	return all
}()

// Abbreviations are what programmers shorten a stem to, or what it is short for.
func Abbreviations(stem string) []string { return abbreviations[stem] }

var abbreviations = func() map[string][]string {
	all := map[string][]string{}
	for pair := range strings.FieldsSeq("authent:auth author:auth author:authz authent:authn databas:db config:cfg configur:config configur:cfg configur:conf context:ctx request:req respons:resp respons:res messag:msg error:err errors:err paramet:param argument:arg argument:args initi:init initialis:init temporari:tmp temporari:temp directori:dir number:num charact:char string:str integ:int pointer:ptr buffer:buf connect:conn document:doc document:docs environ:env environ:environment repositori:repo specif:spec synchron:sync asynchron:async statist:stat calcul:calc previous:prev current:cur maximum:max minimum:min averag:avg destin:dst sourc:src length:len index:idx iter:iterator expir:ttl certif:cert password:passwd credenti:cred crypto:cryptographi encrypt:cipher administr:admin applic:app command:cmd execut:exec languag:lang librari:lib manag:mgr packag:pkg process:proc reference:ref regular:regexp express:expr regex:regexp regexp:regex statement:stmt templat:tmpl transact:tx variabl:var attribut:attr allocat:alloc alloc:malloc delet:remov remov:delet delet:del creat:new dispos:close unmarshal:decod marshal:encod serial:marshal serial:encod serial:dump deserial:unmarshal deserial:decod pars:parser hash:digest log:logger termin:exit shutdown:stop cach:memoiz concurr:parallel mutex:lock lock:mutex url:uri uri:url convert:to multipl:multi") {
		long, short, _ := strings.Cut(pair, ":")
		all[long] = append(all[long], short)
		all[short] = append(all[short], long)
	}
	return all
}()
