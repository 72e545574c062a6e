package query

import (
	"reflect"
	"testing"
)

// TestStatisticsAreOfAllShards: words are counted over all of them, so that the answer
// does not depend on how files are divided into repositories.
func TestStatisticsAreOfAllShards(t *testing.T) {
	a := indexed(t, map[string]string{"a.go": "package token\n\nvar tokens, tokenize int\n", "b.go": "package token\n\nfunc tokenized() {}\n"})
	b := indexed(t, map[string]string{"c.go": "package tokenbucket\n", "d.go": "package other // the token\n"})
	both := Local([]Shard{a, b})
	if n, want := both.Frequency("token"), Local([]Shard{a}).Frequency("token")+Local([]Shard{b}).Frequency("token"); n != want || n < 3 {
		t.Errorf("token is in %d chunks, not %d", n, want)
	}
	if both.Chunks() != 4 || both.Frequency("zebra") != 0 {
		t.Errorf("%d chunks, %d with zebra", both.Chunks(), both.Frequency("zebra"))
	}
	first := both.Beginning("token", 2)
	if want := []Word{{"token", both.Frequency("token")}, {"tokenbucket", 1}}; !reflect.DeepEqual(first, want) {
		t.Errorf("%v, not %v", first, want)
	}
}
