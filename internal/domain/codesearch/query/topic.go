package query

import "strings"

var (
	// actions are verbs that begin a request for the place where something is done.
	actions = set("accept add adjust allocate allow apply ask assert assign attach authenticate authorize avoid bind broadcast bypass calculate cancel capture catch change check choose clean clear clone close collapse collect colorize combine compare compile complete compose compress compute configure connect convert copy count create decide declare decode decompress decrypt deduplicate define delete deliver deny deserialize detach detect determine disable discard display divide download draw drop dump emit enable encode encrypt enforce ensure enumerate escape establish estimate evaluate evict execute expand expire export expose extract fetch fill find finish flatten flush follow forward free generate get give grow guess handle hide identify ignore implement import include infer initialize inject insert inspect install intern invoke iterate join keep kill launch limit list load locate look make map mark match measure merge migrate modify move mount multiply negotiate normalize notify obtain obey open override pack parse pick populate prevent print produce propagate protect provide publish purge push put raise read rebuild receive reconnect recover redirect reduce refresh register reject release reload remove rename render replace replay report require reset resize resolve restart restore resume resubscribe retrieve retry return reuse revert revoke rewrite rotate round run sanitize save scan schedule select send serialize serve set shrink shuffle shut sign simplify skip sort spawn split start steal stop store strip submit subscribe suggest suspend swap sync synchronize take terminate throttle throw tokenize track transform translate traverse trigger trim truncate turn unmarshal unpack unregister unsubscribe unwrap update upgrade upload validate verify wait walk warn watch wrap write")
	// either are verbs and nouns: they ask for a place before an article or the like.
	either     = set("archive benchmark block buffer build cache call chunk debug default delay drain encode error escape export filter format fork frame group hash highlight hook index intercept limit lint list lock log map match mock monitor mount order parse patch pin pipe poll profile proxy query queue rank record request resolve route sample search seal seed share shard show sort stream stub tag template test time trace type use view zip")
	determiner = set("a an all any each every both how if it its only several some that the their them these this those two what when where whether which")
	asking     = set("how where when what which who why whose")
	asWhole    = set("work works implemented structured organized") // the end of: how does the scheduler work
)

// isTopic reports whether a query names a matter, such as "garbage collection", rather
// than asking where something is done: then its answers are files more than lines.
func isTopic(fields []string) bool {
	if len(fields) == 0 {
		return true
	}
	first := strings.ToLower(fields[0])
	switch {
	case asking[first]:
		return asWhole[strings.ToLower(fields[len(fields)-1])]
	case len(fields) > 1 && either[first]:
		return !determiner[strings.ToLower(fields[1])]
	}
	return !actions[first]
}

// set makes a set of words.
func set(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}
