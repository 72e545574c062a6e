package english

import "strings"

// instead has the plain words for what is also said in other ways, contractions that
// lost their apostrophe among them.
var instead = map[string]string{
	"what is":                       "whats, what's",
	"who is":                        "who's, whos",
	"where is":                      "wheres, where's",
	"not":                           "dont, don't, doesnt, doesn't, didnt, didn't, cant, can't, wont, won't, isnt, isn't, arent, aren't, shouldnt, shouldn't, wouldnt, wouldn't, hasnt, hasn't, havent, haven't, wasnt, wasn't",
	"i am":                          "im, i'm, i've, i'll",
	"you":                           "u, ya",
	"people":                        "ppl",
	"priority":                      "prio",
	"let us":                        "lets, let's",
	"it is":                         "it's, thats, that's, there's, here's, he's, she's, which's, we're, we've, you're, they're",
	"i would":                       "i'd",
	"how is":                        "how's",
	"which is the oldest":           "how old is the oldest",
	"when is":                       "when's, whens",
	"have i sold":                   "did i sell",
	"have we sold":                  "did we sell, do we sell",
	"show":                          "gimme, can i see, could i see, may i see, can i get, show me, give me, tell me, get me, bring me, find me, fetch me, read me",
	"please":                        "for me",
	"email":                         "email address, e-mail address, mail address",
	"about":                         "related to, relating to, on the subject of, to do with, with the word, with the words, containing the word, containing the words, containing",
	"mention":                       "contain, contains",
	"tagged":                        "tagged with, tagged as",
	"ssn":                           "ssns, social security number, social security numbers",
	"time off":                      "paid time off, annual leave",
	"number of employees":           "headcount, head count, staff count",
	"500000":                        "half a million",
	"1000000":                       "a million",
	"how is the pipeline":           "how are sales, how are sales going, how are sales doing, how are our sales going, how is business, how is business going",
	"do the people of my team earn": "does my team cost",
	"is ready":                      "should i work on, can i work on, should i do",
	"report to":                     "work for, works for, work under, works under, working for, working under, managed by, led by",
	"phone":                         "phone number, phone numbers, telephone number, telephone numbers, mobile number",
	"are the invoices about":        "do we pay for",
	"are the invoices of":           "do we pay",
	"are the paid invoices about":   "did we pay for, have we paid for",
	"are the paid invoices of":      "did we pay, did the company pay",
	"performance":                   "perf",
	"are my expenses":               "did i spend, have i spent, i have spent, i spent, do i spend",
	"page":                          "pg",
	"can you raise my salary":       "can i get a raise, can i have a raise, could i get a raise, could i have a raise, may i get a raise",
	"raise my salary":               "give me a raise, get a raise, have a raise, want a raise, need a raise, i would like a raise, like a raise, i'd like a raise",
	"next":                          "nxt",
	"who is my manager":             "who do i report to, whom do i report to, who am i reporting to, to whom do i report, who i report to",
	"earns":                         "gets paid",
	"surname":                       "last name, last names, family name, family names",
	"salaries":                      "salary table, list of salaries, payroll list, payslips",
	"ascending":                     "a to z, from a to z, a-z",
	"descending":                    "z to a, from z to a, z-a",
	"tickets":                       "tix",
	"unpaid":                        "need to pay, have to pay, must pay, left to pay",
	"sorted by amount descending":   "largest first, highest first, biggest first, most expensive first, highest to lowest, largest to smallest, from highest to lowest, from largest to smallest",
	"sorted by amount ascending":    "smallest first, lowest first, cheapest first, lowest to highest, smallest to largest, from lowest to highest, from smallest to largest",
	"sorted by date descending":     "newest first, latest first, most recent first, newest to oldest, sort by newest, sorted by newest",
	"sorted by date ascending":      "oldest first, earliest first, oldest to newest, sort by oldest, sorted by oldest",
	"delete":                        "get rid of",
	"and":                           "as well as, along with, together with",
	"versus":                        "compare to, compare with, compared to, compared with, in comparison to, in comparison with",
	"summarise":                     "summarize, sum up",
	"wait for approval":             "needs approval, need approval, awaiting approval, needs to be approved, need to be approved, need my approval, needs my approval, pending approval, do i need to approve, do i have to approve, should i approve",
	"what is the status of":         "what happened to, what became of",
	"yet":                           "so far",
	"own":                           "look after",
	"located":                       "based",
	"others":                        "everyone else, everybody else",
	"overspent":                     "over budget, over the budget, over our budget, over spent, over-spent",
	"underspent":                    "under budget, under the budget, under our budget",
	"login":                         "log in, logging in",
	"doing":                         "on track, getting on, coming along",
}

// longest is how many words a phrase of instead has at most.
const longest = 5

var plain = func() map[string]string {
	words := map[string]string{}
	for word, phrases := range instead {
		for phrase := range strings.SplitSeq(phrases, ", ") {
			words[phrase] = word
		}
	}
	return words
}()

// Plain gives the plain words for the longest phrase that begins the words, and how
// many of them it has; 0 when there is none.
func Plain(words []string) (text string, n int) {
	for n = min(longest, len(words)); n > 0; n-- {
		if text = plain[strings.Join(words[:n], " ")]; text != "" {
			return text, n
		}
	}
	return "", 0
}

// Plainly puts the plain words for the phrases of a text in lower case.
func Plainly(text string) string {
	var out []string
	for words := strings.Fields(text); len(words) > 0; {
		text, n := Plain(words)
		if n == 0 {
			text, n = words[0], 1
		}
		out, words = append(out, text), words[n:]
	}
	return strings.Join(out, " ")
}
