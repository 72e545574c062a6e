package lexicon

import "regexp"

// Forms of questions, most of which go on with the one before them.
var (
	// Theirs, "their salaries", asks for a field of what was shown.
	Theirs = regexp.MustCompile(`(?i)^(?:and |what about |what are |show )*their ([\w ]+)`)
	// FieldOf, "the due date?", asks for a field of one thing.
	FieldOf = regexp.MustCompile(`^(?:(?:and )?(?:what|who|when|how much) (?:is|are) )?(?:(?:and )?(?:the|its|their|his|her) )?(\w+(?: \w+){0,2})$`)
	// Which, "which are open?", keeps some of what was shown.
	Which = regexp.MustCompile(`(?i)^(?:and )?(which|how many) (?:ones? )?((?:are|were|is) (?:\w+ ){0,3}\w+\W*)$|^(?:and )?(which) ones? (.+)$`)
	// HowManyIn, "how many in Paris?", counts others of the same things.
	HowManyIn = regexp.MustCompile(`^(?:and |so )?(how many) (?:are )?(in|at|from) `)
	// Counts is "how many" and the like, before what is counted.
	Counts = regexp.MustCompile(`(?i)^(?:and |so )?(?:how many|(?:what is the |the )?number of|count(?: of)?) `)
	// Them is what was shown, in the words of the next question.
	Them = regexp.MustCompile(`(?i)\b(?:they all|they|them all|them|(?:those|these)$)\b`)
	// SearchFor, "search for logins", does not say where.
	SearchFor = regexp.MustCompile(`^(?i)(?:search|look) for (.+)$`)
	// Deed asks where or how something is done, or where a name of code is.
	Deed = regexp.MustCompile(`^(?i:(?:show )?(where|how) (?:do we \w+ |(?:.+ )?(?:is|are) (?:.+ )?\w+ed$|is (?-i:(\w*[a-z][A-Z]\w*))$))`)
	// HowTo asks for instructions.
	HowTo = regexp.MustCompile(`^(?:(?:show |explain )?how (?:(?:do|does|can|should|would) (?:i|we|you|one)|to)|what (?:do|should) i do (?:if|when)|what (?:is|are) the (?:way|process|procedure|steps) (?:to|for)|i (?:forgot|have forgotten)|(?:(?:show|find|is there) )?(?:the |an? |any )?(?:help|how-to|knowledge base|kb) articles? (?:on|about|for)) `)
	// Doers are people by what they do: engineers, analysts.
	Doers = regexp.MustCompile(`(.{3}(er|or|ist|yst|tant|tive)|intern)s$`)
)
