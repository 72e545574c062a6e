package memo

import "testing"

func TestMemoIsBounded(t *testing.T) {
	m, made := New[int, string](2), 0
	value := func() string { made++; return "made" }
	for _, key := range []int{1, 1, 2, 2, 1} {
		if got := m.Of(key, value); got != "made" {
			t.Errorf("%d is %q", key, got)
		}
	}
	if made != 2 {
		t.Errorf("two values were made %d times", made)
	}
	m.Put(2, "put")
	if m.Get(1) != "made" || m.Get(2) != "put" {
		t.Error("a known key made it forget")
	}
	m.Put(3, "new")
	if m.Get(1) != "" || m.Get(3) != "new" {
		t.Error("a full memo keeps what was there")
	}
}
