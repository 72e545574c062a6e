package rehearsal

import (
	"fmt"
	"testing"
)

func TestDbg(t *testing.T) {
	en := readEnglish()
	h := openHouse(t, people["nina"], "testdata/hr_tools.json")
	for _, x := range h.Tools(t.Context()).Open {
		f := en.form(x)
		rel := f.relation()
		fmt.Println(f.tool.Name, f.lists(), f.noun, f.head, f.own)
		if rel != nil {
			fmt.Println(rel.name, rel.about)
		}
		if f.tool.Name == "get_performance_reviews" {
			fmt.Println(f.about, f.more, f.verbs)
		}
	}
}
