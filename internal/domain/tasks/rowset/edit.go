package rowset

// Edit is which rows of a span are added to a set and cut out of it, and which to and
// out of its part that is in the first text.
type Edit struct{ Add, AddFirst, Cut, CutFirst []int }

// Edits are those of the sets of a span, by their names.
type Edits map[string]*Edit

// Move takes a row out of the sets that it was in, and adds it to those that it is in.
// Both are true where it is in their part of the first text.
func (e Edits) Move(row int, was, is map[string]bool) {
	for name, first := range is {
		if wasFirst, there := was[name]; !there || first && !wasFirst {
			edit := e.of(name)
			edit.Add = append(edit.Add, row)
			if first {
				edit.AddFirst = append(edit.AddFirst, row)
			}
		}
	}
	for name, first := range was {
		isFirst, there := is[name]
		if there && (isFirst || !first) {
			continue
		}
		edit := e.of(name)
		if !there {
			edit.Cut = append(edit.Cut, row)
		}
		if first {
			edit.CutFirst = append(edit.CutFirst, row)
		}
	}
}

// Spread adds what is added to a set to other ones, too.
func (e Edits) Spread(added *Edit, names []string) {
	for _, name := range names {
		edit := e.of(name)
		edit.Add = append(edit.Add, added.Add...)
		edit.AddFirst = append(edit.AddFirst, added.AddFirst...)
	}
}

func (e Edits) of(name string) *Edit {
	if e[name] == nil {
		e[name] = &Edit{}
	}
	return e[name]
}
