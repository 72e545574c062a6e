package vocabulary

import "strings"

// Silent reports whether a word, in lower case, says nothing about what is sought.
func Silent(word string) bool { return silent[word] }

var silent = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq("a an the of to in on for with by from and or is are was were be been do does did done how what where when why which who whom we our us i my me it its this that these those there their they them can could should would will shall may might must as at into if then than so you your has have had show tell explain about please any some all each every") {
		all[word] = true
	}
	return all
}()
