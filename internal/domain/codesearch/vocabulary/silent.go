package vocabulary

// Silent reports whether a word, in lower case, says nothing about what is sought.
func Silent(word string) bool { return silent[word] }

const silentText = "a an the of to in on for with by from and or is are was were be been do does did done how what where when why which who whom we our us i my me it its this that these those there their they them can could should would will shall may might must as at into if then than so you your has have had show tell explain about please any some all each every"

var silent = table(silentText, func(all map[string]bool, line []string) {
	for _, word := range line {
		all[word] = true
	}
})
