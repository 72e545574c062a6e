package intern

import (
	"fmt"
	"testing"
)

// TestTextsKeepTheirNumbers while the table grows, and whatever their hashes have in common.
func TestTextsKeepTheirNumbers(t *testing.T) {
	var table Table
	text := func(i int) string { return fmt.Sprintf("%d", i*i) }
	const texts = 20_000
	for _, again := range []bool{false, true} {
		for i := range texts {
			if n, known := table.Number([]byte(text(i))); int(n) != i || known != again {
				t.Fatalf("%s: %d, %t", text(i), n, known)
			}
		}
	}
	if table.Len() != texts || string(table.Text(0)) != "0" || string(table.Text(texts-1)) != text(texts-1) {
		t.Errorf("%d texts, %q, %q", table.Len(), table.Text(0), table.Text(texts-1))
	}
	clone := table.Clone()
	if n, known := clone.Number([]byte("other")); int(n) != texts || known {
		t.Errorf("in a clone another text has number %d, %t", n, known)
	}
	if n, known := clone.Number([]byte(text(7))); n != 7 || !known {
		t.Errorf("in a clone a text has number %d, %t", n, known)
	}
	if n, known := table.Number(nil); int(n) != texts || known || len(table.Text(n)) != 0 {
		t.Errorf("the empty text: %d, %t", n, known)
	}
}

// TestTextsKeepTheirLists however many there are, and whether they were fetched or not.
func TestTextsKeepTheirLists(t *testing.T) {
	var lists Lists
	const texts = 20_000
	keys := make([]Key, texts)
	for i := range keys {
		keys[i] = KeyOf(fmt.Appendf(nil, "%d", i*i))
	}
	lists.Fetch(keys) // of none
	numbers := func(i int) (all []uint32) {
		for n := range i % 5 {
			all = append(all, uint32(i+n))
		}
		return all
	}
	same := func(l List, i int) bool {
		want := numbers(i)
		for n := range want {
			if l.Len() != len(want) || l.At(n) != want[n] {
				return false
			}
		}
		return l.Len() == len(want)
	}
	for i, key := range keys {
		if _, known := lists.Find(key); known {
			t.Fatalf("%s has a list before one is added", key.Text)
		}
		if l := lists.Add(key, numbers(i)); !same(l, i) {
			t.Fatalf("%s: %v", key.Text, l)
		}
	}
	lists.Fetch(keys) // of more than a batch
	for i, key := range keys {
		if l, known := lists.Find(key); !known || !same(l, i) {
			t.Fatalf("%s: %v, %t", key.Text, l, known)
		}
	}
}

// TestListsAreOfTextsNotOfHashes: texts with one hash differ.
func TestListsAreOfTextsNotOfHashes(t *testing.T) {
	var lists Lists
	one, two, three := Key{[]byte("one"), 7}, Key{[]byte("two"), 7}, Key{[]byte("three"), 7}
	lists.Add(one, []uint32{1})
	if l, known := lists.Find(two); known {
		t.Errorf("two has the list of another text: %v", l)
	}
	lists.Add(two, []uint32{2})
	for i, key := range []Key{one, two} {
		if l, known := lists.Find(key); !known || l.Len() != 1 || l.At(0) != uint32(i+1) {
			t.Errorf("%s: %v, %t", key.Text, l, known)
		}
	}
	if _, known := lists.Find(three); known {
		t.Error("three is known")
	}
}
