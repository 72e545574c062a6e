package lexicon

import (
	"cmp"
	"regexp"
)

// Forms of questions, most of which go on with the one before them.
var (
	// Opening is a sentence about the person before their question: "Hi, I'm new here."
	Opening = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|good \w+)[ ,]+(?:there,? )?)?(?:i am|i'm|im|we are|we're) (?:new|just|trying|looking|preparing|working|in|on|from|with|a|an|the)\b[\w ,']{0,60}[.!] +`)
	// Detail, "tell me more about the first", asks for one of what was shown.
	Detail = regexp.MustCompile(`(?i)^(?:show |tell |give )?(?:me )?(?:(?:more|the|all)?(?: details?)? ?(?:about|on|of)|^open|^read|^view) the (first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?: \w*[^\Ws])?\W*$`)
	// Inside, "what items are in it?", asks for all of one thing.
	Inside = regexp.MustCompile(`(?i)^(?:and )?what (?:items )?does it (?:contain|have|include)\W*$|^(?:and )?(?:what (?:items |lines )?(?:is|are|'s) in|show (?:me )?(?:the )?(?:items|lines|details) (?:in|of)|(?:more )?details (?:of|on|about)) it\W*$|^(?:show |give )?(?:me )?(?:the |more )?details\W*$`)
	// Theirs, "their salaries", asks for a field of what was shown.
	Theirs = regexp.MustCompile(`(?i)^(?:and |what about |what are |show )*their ([\w ]+)`)
	// FieldOf, "the due date?", asks for a field of one thing.
	FieldOf = regexp.MustCompile(`^(?:(?:and )?(?:what|who|when|how much) (?:is|are) )?(?:(?:and )?(?:the|its|their|his|her) )?(\w+(?: \w+){0,2})$`)
	// Holds, "which department has the most?", leaves out of what.
	Holds = regexp.MustCompile(`^(?:and |so )?(?:who|which \w+) (?:has|have|had|is|spent|got|owns|owned) the (\w+)(?: one)?$`)
	// HowManyIn, "how many in Paris?", counts others of the same things.
	HowManyIn = regexp.MustCompile(`^(?:and |so )?(how many) (?:are )?(in|at|from) `)
	// Counts is "how many" and the like, before what is counted.
	Counts = regexp.MustCompile(`(?i)^(?:and |so )?(?:how many|(?:what is the |the )?number of|count(?: of)?) `)
	// Them is what was shown, in the words of the next question.
	Them = regexp.MustCompile(`(?i)\b(?:they all|they|them all|them|(?:those|these)$)\b`)
	kept = regexp.MustCompile(`(?i)^(?:and |so |but )?(?:(which|who|how many) (?:ones? )?of (?:them|those|these) (.+?)|(which|how many) (?:ones? )?((?:are|were|is) (?:\w+ ){0,3}\w+)|(which) ones? (.+?)|(?:(?:are|is|do|have) )?(?:there )?any (?:of (?:them|those|these) )?(?:that )?((?:\w+ ){0,3}\w+))\W*$`)
	// OfThem says that a question keeps some of what was shown.
	OfThem = regexp.MustCompile(`(?i)\bof (?:them|those|these)\b`)
	// Teams, "show me team Rome", are one's own where no other is said.
	Teams = regexp.MustCompile(`(?i)^((?:(?:show|list|see|view|get|give|find) )?(?:me )?)(team(?:[^ \w]|$| [^o]| o[^f]))`)
	// SearchFor, "search for logins", does not say where.
	SearchFor = regexp.MustCompile(`^(?i)(?:search|look) for (.+)$`)
	// Deed asks where or how something is done, or where a name of code is.
	Deed = regexp.MustCompile(`^(?i:(?:show )?(where|how) (?:do we \w+ |(?:.+ )?(?:is|are) (?:.+ )?\w+ed$|is (?-i:(\w*[a-z][A-Z]\w*))$))`)
	// HowTo asks for instructions.
	HowTo = regexp.MustCompile(`^(?:(?:show |explain )?how (?:(?:do|does|can|should|would) (?:i|we|you|one)|to)|what (?:do|should) i do (?:if|when)|what (?:is|are) the (?:way|process|procedure|steps) (?:to|for)|i (?:forgot|have forgotten)|(?:(?:show|find|is there) )?(?:the |an? |any )?(?:help|how-to|knowledge base|kb) articles? (?:on|about|for)) `)
	// Doers are people by what they do: engineers, analysts.
	Doers = regexp.MustCompile(`(.{3}(er|or|ist|yst|tant|tive)|intern)s$`)
)

// Kept is how a question asks for some of what was shown, and which: "which of those are open?",
// "any overdue?"; empty where it does not.
func Kept(said string) (ask, which string) {
	m := kept.FindStringSubmatch(said)
	if m == nil {
		return "", ""
	}
	return cmp.Or(m[1], m[3], m[5], "which"), cmp.Or(m[2], m[4], m[6], m[7])
}
