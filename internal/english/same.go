package english

import (
	"slices"
	"strings"
)

// alike are groups of words that ask for the same thing.
var alike = [...]string{
	"break split divide", "delete remove erase", "dismiss fire sack terminate discharge", "increase raise boost lift bump", "decrease reduce lower cut",
	"change update modify edit alter adjust set", "create add register", "close resolve", "start begin",
	"record profile detail info information data file entry card", "report subordinate", "owned owns owner assigned handles handling", "location office city site place where",
	"email mail e-mail", "cost price amount value", "organisation organization org organizational organisational", "author writer", "kind type category",
	"birthday birth", "hierarchy structure", "chart diagram tree",
}

var same = func() map[string][]string {
	others := map[string][]string{}
	for _, group := range alike {
		var stems []string
		for _, word := range strings.Fields(group) {
			stems = append(stems, Stem(word))
		}
		for _, stem := range stems {
			others[stem] = slices.Compact(append(others[stem], stems...))
		}
	}
	others["report"] = append(others["report"], Stem("manager")) // whom somebody reports to; the other way round it says less
	return others
}()

// Same are the stems of the words that ask for the same thing as a stem does.
func Same(stem string) []string { return same[stem] }
