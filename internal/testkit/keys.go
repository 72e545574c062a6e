package testkit

import "testing"

// Keys are the keys of a Redis in memory, without what its clients may do.
type Keys interface {
	Get(key string) (string, error)
	Set(key, value string) error
}

// PutKey writes a key as someone who can write to Redis can: it stays for good.
func PutKey(t testing.TB, keys Keys, key, value string) {
	t.Helper()
	if err := keys.Set(key, value); err != nil {
		t.Fatal(err)
	}
}

// StoredKey is the value of a key as it is stored.
func StoredKey(t testing.TB, keys Keys, key string) string {
	t.Helper()
	value, err := keys.Get(key)
	if err != nil {
		t.Fatal(key, err)
	}
	return value
}
