package rowset

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSetsAgreeWithMaps compares sets of all densities with maps, after each of their
// operations, and when they were stored meanwhile.
func TestSetsAgreeWithMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 13))
	random := func() (Set, map[int64]bool) {
		s, m := Set{}, map[int64]bool{}
		for range 1 << r.IntN(15) {
			id := r.Int64N(3 * SpanRows)
			s.Add(id)
			m[id] = true
		}
		return s, m
	}
	same := func(what string, s Set, m map[int64]bool) {
		t.Helper()
		want := slices.Sorted(maps.Keys(m))
		slices.Reverse(want)
		if got := s.Last(0, len(want)+1); s.Len() != len(want) || !slices.Equal(got, want) {
			t.Fatalf("%s: got %d rows, and %d of them, want %d", what, s.Len(), len(got), len(want))
		}
		if skip := r.IntN(len(want) + 1); !slices.Equal(s.Last(skip, 7), want[skip:min(skip+7, len(want))]) {
			t.Fatalf("%s: from %d on: got %v", what, skip, s.Last(skip, 7))
		}
	}
	for range 60 {
		a, inA := random()
		b, inB := random()
		stored := Set{}
		for at, rows := range a {
			stored.Unpack(at, rows.pack())
			if packed := Pack(rows.rows()); !slices.Equal(packed, rows.pack()) || len(packed) > SpanRows/8 {
				t.Fatalf("a span of %d rows is stored in %d bytes, and its list in %d", rows.len(), len(rows.pack()), len(packed))
			}
		}
		same("stored", stored, inA)
		both := a.Take(b)
		inBoth := maps.Clone(inA)
		maps.DeleteFunc(inBoth, func(id int64, _ bool) bool { return !inB[id] })
		maps.DeleteFunc(inA, func(id int64, _ bool) bool { return inB[id] })
		same("taken", both, inBoth)
		same("left", a, inA)
		a.Join(b)
		maps.Copy(inA, inB)
		same("joined", a, inA)
	}
}
