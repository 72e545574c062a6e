package seal_test

import (
	"errors"
	"testing"

	"countersign.dev/internal/seal"
)

func ring(t testing.TB, purpose string, secrets ...[]byte) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing(purpose, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOpensOnlyWhatItSealedForThatContext(t *testing.T) {
	secret, other := seal.RandomSecret(), seal.RandomSecret()
	r := ring(t, "cursor", secret)
	text := r.Seal([]byte("plain"), []byte("ann"))
	if got, err := r.Open(text, []byte("ann")); err != nil || string(got) != "plain" {
		t.Fatalf("got %q, %v", got, err)
	}
	for name, try := range map[string]func() ([]byte, error){
		"another context":   func() ([]byte, error) { return r.Open(text, []byte("ben")) },
		"another purpose":   func() ([]byte, error) { return ring(t, "cookie", secret).Open(text, []byte("ann")) },
		"another secret":    func() ([]byte, error) { return ring(t, "cursor", other).Open(text, []byte("ann")) },
		"cut short":         func() ([]byte, error) { return r.Open(text[:len(text)-2], []byte("ann")) },
		"no base64":         func() ([]byte, error) { return r.Open("%%", []byte("ann")) },
		"nothing":           func() ([]byte, error) { return r.Open("", []byte("ann")) },
		"the first flipped": func() ([]byte, error) { return r.Open("A"+text[1:]+"A", []byte("ann")) },
	} {
		if _, err := try(); !errors.Is(err, seal.ErrNotOurs) {
			t.Errorf("%s: got %v, want ErrNotOurs", name, err)
		}
	}
}

func TestReplicasCanChangeSecretsOneByOne(t *testing.T) {
	old, fresh := seal.RandomSecret(), seal.RandomSecret()
	text := ring(t, "cursor", old).Seal([]byte("x"), nil)
	if _, err := ring(t, "cursor", fresh, old).Open(text, nil); err != nil {
		t.Errorf("the older secret no longer opens: %v", err)
	}
}

func TestShortSecretsAreRefused(t *testing.T) {
	if _, err := seal.NewRing("cursor", []byte("short")); err == nil {
		t.Error("a short secret was taken")
	}
	if _, err := seal.NewRing("cursor"); err == nil {
		t.Error("no secret was taken")
	}
}

// A sealed text has one spelling: without another end of its last letter, and without
// the line ends that decoders of base64 skip.
func TestSealedTextHasOneSpelling(t *testing.T) {
	r := ring(t, "cursor", seal.RandomSecret())
	for _, plain := range []string{"x", "xx", "xxx"} { // as many bits to spare at the end as there can be
		text := r.Seal([]byte(plain), nil)
		if _, err := r.Open(text, nil); err != nil {
			t.Fatal(err)
		}
		spellings := []string{text + "\n", "\r" + text, text[:5] + "\n" + text[5:], text + "="}
		for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			if other := text[:len(text)-1] + string(last); other != text {
				spellings = append(spellings, other)
			}
		}
		for _, other := range spellings {
			if _, err := r.Open(other, nil); err == nil {
				t.Errorf("opened %q, want %q alone", other, text)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	r := ring(f, "cursor", seal.RandomSecret())
	good := r.Seal([]byte("x"), nil)
	for _, text := range []string{good, good[:9] + "\n" + good[9:], good + "=", good[:len(good)-1], ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if plain, err := r.Open(text, []byte("bound")); err == nil {
			t.Errorf("opened %q as %q", text, plain)
		}
		if _, err := r.Open(text, nil); (err == nil) != (text == good) {
			t.Errorf("%q: got %v, want %q alone opened", text, err, good)
		}
	})
}
