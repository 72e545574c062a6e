package lexicon

import (
	"cmp"
	"regexp"
	"strings"
)

// Forms of questions, most of which go on with the one before them.
var (
	// Detail, "tell me more about the first", asks for one of what was shown.
	Detail = regexp.MustCompile(`(?i)^(?:show |tell |give )?(?:me )?(?:(?:more|the|all)?(?: details?)? ?(?:about|on|of)|^open|^read|^view) the (first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?: \w*[^\Ws])?\W*$`)
	// Pays, "what do we pay Ada?", is of a person or a supplier.
	Pays = regexp.MustCompile(`^(?i:what|how much) (?i:do|did) we (?i:pay) ([A-Z][a-z][\w'-]*(?: [A-Z][\w'-]+)?)\b`)
	// LastOne, "open the last one", is of a row and no page.
	LastOne = regexp.MustCompile(`(?i)^(?:please )?(?:open|show|view|read|close|delete|remove|approve)(?: me)? the last one\b`)
	// NthPage, "page 5" or "the previous page", is of a page by its place in a list; the second one follows the first.
	NthPage = regexp.MustCompile(`(?i)^(?:please )?(?:and )?(?:(?:show|open|give|see|read|go (?:back )?to)(?: me)? )?(?:the )?(?:page(?: number)? (?:1|[3-9]|\d\d+)|(?:previous|preceding|\d+(?:st|nd|rd|th)) (?:page|ones)|previous)\W*$`)
	// Inside, "what items are in it?", asks for all of one thing.
	Inside = regexp.MustCompile(`(?i)^(?:and )?show (?:me )?its (?:items|lines|details)\W*$|^(?:and )?what (?:items )?does it (?:contain|have|include)\W*$|^(?:and )?(?:what (?:items |lines )?(?:is|are|'s) in|show (?:me )?(?:the )?(?:items|lines|details) (?:in|of)|(?:more )?details (?:of|on|about)) it\W*$|^(?:show |give )?(?:me )?(?:the |more )?details\W*$`)
	// Theirs, "their salaries", asks for a field of what was shown.
	Theirs = regexp.MustCompile(`(?i)^(?:and |what about |what (?:are|is) |who (?:are|is) |show )*their ([\w ]+)`)
	// FieldOf, "the due date?", asks for a field of one thing.
	FieldOf = regexp.MustCompile(`^(?:(?:and )?(?:what|who|when|how much) (?:is|are) )?(?:(?:and )?(?:the|its|their|his|her) )?(\w+(?: \w+){0,2})$`)
	// Holds, "which department has the most?", leaves out of what.
	Holds = regexp.MustCompile(`^(?:and |so )?(?:who|which \w+) (?:has|have|had|is|spent|got|owns|owned) the (\w+)(?: one)?$`)
	// HowManyIn, "how many in Paris?", counts others of the same things.
	HowManyIn = regexp.MustCompile(`^(?:and |so )?(how many) (?:are )?(in|at|from) `)
	// Figures is "the average" and the like, before what it is of.
	Figures = regexp.MustCompile(`(?i)^(?:(?:what is|what's|show) )?(?:the |our |my )?(?:average|mean|total)(?: of)? `)
	// Counts is "how many" and the like, before what is counted.
	Counts = regexp.MustCompile(`(?i)^(?:and |so )?(?:how many|(?:what is the |the )?number of|count(?: of)?) `)
	// Them is what was shown, in the words of the next question.
	Them = regexp.MustCompile(`(?i)\b(?:they all|they|them all|them|(?:those|these)$)\b`)
	// Each, "the owner of each", is of them all.
	Each = regexp.MustCompile(`(?i)\b(of|for) each(?: one)?(\W*)$`)
	kept = regexp.MustCompile(`(?i)^(?:and |so |but )?(?:(which|who|how many) (?:ones? )?of (?:them|those|these) (.+?)|(which|how many) (?:ones? )?((?:are|were|is) (?:\w+ ){0,3}\w+)|(which) ones? (.+?)|(?:(?:are|is|do|have) )?(?:there )?any (?:of (?:them|those|these) )?(?:that )?((?:\w+ ){0,3}\w+))\W*$`)
	// OfThem says that a question keeps some of what was shown.
	OfThem = regexp.MustCompile(`(?i)\bof (?:them|those|these)\b`)
	// SearchFor, "search for logins", does not say where.
	SearchFor = regexp.MustCompile(`^(?i)(?:search|look) for (.+)$`)
	// Deed asks where or how something is done, or where a name of code is.
	Deed = regexp.MustCompile(`^(?i:(?:show )?(where|how) (?:do we \w+ |(?:.+ )?(?:is|are) (?:.+ )?\w+ed$|is (?-i:(\w*[a-z][A-Z]\w*))$))`)
	// HowTo asks for instructions.
	HowTo = regexp.MustCompile(`^(?:(?:show |explain )?how (?:(?:do|does|can|should|would) (?:i|we|you|one)|to)|what (?:do|should) i do (?:if|when)|what (?:is|are) the (?:way|process|procedure|steps) (?:to|for)|i (?:forgot|have forgotten)|(?:(?:show|find|is there) )?(?:the |an? |any )?(?:help|how-to|knowledge base|kb) articles? (?:on|about|for)) `)
	// Doers are people by what they do: engineers, analysts.
	Doers = regexp.MustCompile(`(.{3}(er|or|ist|yst|tant|tive)|intern)s$`)
)

// usual are forms of questions with the usual words for the same.
var usual = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|good \w+)[ ,]+(?:there,? )?)?(?:i am|i'm|im|we are|we're) (?:new|just|trying|looking|preparing|working|in|on|from|with|a|an|the)\b[\w ,']{0,60}[.!] +`), ""}, // "Hi, I'm new here.", about the person
	{regexp.MustCompile(`^(?i)((?:please )?(?:create|add|make|open|start|new)(?: me)?(?: an?| another| the)?(?: new)? \w+) for ([\w']+(?: (?-i:[A-Z])[\w']+)?)(?: to |: )(.+)$`), "$1: $3 (for $2)"},          // "create a task for Ada to call Acme" says first for whom
	{Detail, "show the $1 one"},
	{regexp.MustCompile(`(?i)^((?:please )?\w+ (?:me )?the (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth))\W*$`), "$1 one"},
	{regexp.MustCompile(`(?i)^((?:please )?(?:open|close|delete|remove|show|view|read|approve|update)(?: me)?) (?:number|no\.?|#) ?(\d{1,2})\b`), "$1 the ${2}th one"},
	{regexp.MustCompile(`(?i)^(?:how|where) (?:do|can|could|would|may) (?:i|we) (?:see|view|find out(?: about)?|look up|get to see) `), "show "},
	{regexp.MustCompile(`^(?i:how (?:do|can|could|would|should) (?:i|we) (?:contact|reach|get in touch with|get hold of|email|call) )([A-Z][\w'-]+(?: [A-Z][\w'-]+)*)\W*$`), "what is the email of $1"},
	{regexp.MustCompile(`^(?i:where (?:is|are)) (\w*[a-z][A-Z]\w*) (?i:defined|declared|implemented)\W*$`), "where is $1"},
	{regexp.MustCompile(`(?i)^(?:(?:what|how much) (?:(?:was|am|were) i|(?:did|do|have|had) i (?:been|get|got))|(?:was|am|have|did) i(?: been| get| got)?)(?: getting)? paid\b.*$|^(?:what|how much) (?:does|did|do) (?:the company|you|they|we|my employer) pay me\b.*$`), "what is my salary"},
	{regexp.MustCompile(`(?i)^(who (?:is|was|gets|got) (?:the )?(?:\w+ )?paid(?: \w+)?) (?:last|this) (?:year|month|quarter)\W*$`), "$1"},
	{regexp.MustCompile(`(?i) (?:whose (?:manager|boss|supervisor) is|(?:with|having) (?:the )?(?:manager|boss|supervisor)) `), " who report to "},
	{regexp.MustCompile(`(?i)^whose (?:manager|boss|supervisor) is `), "who reports to "},
	{regexp.MustCompile(`(?i)^whose (?:is|was) (it|this|that|the \w+(?: \w+)?)\W*$`), "who owns $1"},
	{regexp.MustCompile(`^(?i:is|does) ([A-Z][\w'-]+(?: [A-Z][\w'-]+)?) (?:(?:working|work|employed|based|located|sit|live) )?(?:in|at|for) (?:the )?[A-Z][\w ]*\W*$`), "who is $1"}, // whose record has the place
	{regexp.MustCompile(`(?i)^(?:please )?(?:(?:give|show|write|get|make) )?(?:me )?(?:an? |the )?(?:short |brief |quick )?(?:summary|overview) (?:of|about|on) `), "show "},
	{regexp.MustCompile(`(?i)^((?:(?:show|list|see|view|get|give|find) )?(?:me )?)(team(?:[^ \w]|$| [^o]| o[^f]))`), "${1}my $2"}, // "show me team Rome": one's own where no other is said
}

// Usual is a question in the usual words, if it has a form that says the same in others.
func Usual(question string) string {
	for _, u := range usual {
		question = u.form.ReplaceAllString(question, u.as)
	}
	return question
}

// Kept is how a question asks for some of what was shown, and which: "which of those are open?",
// "any overdue?"; empty where it does not.
func Kept(said string) (ask, which string) {
	m := kept.FindStringSubmatch(said)
	if m == nil {
		return "", ""
	}
	return cmp.Or(m[1], m[3], m[5], "which"), cmp.Or(m[2], m[4], m[6], m[7])
}

var someOf = regexp.MustCompile(`(?i)^(?:and |so |but )?how many (?:(?:of them )?(?:are|were) ([^?!.]+)|(?:of them )?((?:in|at|from) [^?!.]+))\W*$`)

// CountsSome is which of the rows that were shown a question counts: "how many of them are open?",
// "and how many in Paris?"; empty where it does not.
func CountsSome(said string) string {
	m := someOf.FindStringSubmatch(said)
	if m == nil || strings.HasPrefix(m[1], "there") {
		return ""
	}
	return cmp.Or(m[1], m[2])
}

// Another is a question with other words for its things in the place of those that it has: of
// "how many red cars has Ada?" with "blue cars"; empty where it has none.
func (x *Lexicon) Another(question string, words []string) string {
	if len(words) != 2 || x.Is(words[0], "idle", "self", "count") {
		return ""
	}
	thing := regexp.MustCompile(`(?i)\b([a-z]+) ` + regexp.QuoteMeta(words[1]) + `\b`)
	was := thing.FindStringSubmatch(question)
	if was == nil || was[1] != "open" && x.Is(strings.ToLower(was[1]), "idle", "self", "count", "bulk") {
		return ""
	}
	return strings.Replace(question, was[0], strings.Join(words, " "), 1)
}

// Keeps reports whether a question keeps some of what was shown.
func Keeps(said string) bool {
	_, which := Kept(said)
	return which != "" && !strings.HasPrefix(which, "are there") // which asks for all
}

// AsksOfThem reports whether a message, as a whole question, asks something of the rows of the
// one before it and keeps them all: "who owns them?", "their salaries".
func AsksOfThem(said, whole, before string) bool {
	_, kept := Kept(said)
	fields := Theirs.MatchString(said) || strings.HasPrefix(whole, before+" with ")
	return fields || kept == "" && Them.MatchString(said) && strings.HasSuffix(whole, before)
}
