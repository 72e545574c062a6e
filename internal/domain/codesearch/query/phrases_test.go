package query

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestMessagesAreFoundWhereTheyAreMade, also when something is filled in, and not by words in another order, by
// fewer than four of them, or by the common ones alone; between quotes all are needed, and two are enough.
func TestMessagesAreFoundWhereTheyAreMade(t *testing.T) {
	shard := indexed(t, map[string]string{
		"message.go":      "package p\n\nfunc check(name string) error {\n\treturn fail(\"opening %s: the folder has another version of the index\", name)\n" + filler(40) + "}\n",
		"version.go":      "package p\n\n// indexVersion is a version that is another: the version of the index of a folder.\nfunc indexVersion(folder, version string) {\n\tindex(folder, version, another)\n\tindex(folder, version, another)\n}\n",
		"message_test.go": "package p\n\nfunc TestCheck() {\n\twant(\"opening x: the folder has another version of the index\")\n" + filler(4) + "}\n",
	})
	for text, phrase := range map[string]bool{
		"opening /tmp/x.csx: the folder has another version of the index": true,
		"THE FOLDER HAS ANOTHER\n  VERSION OF THE INDEX":                  true,
		"another index of the version has a folder":                       false,
		"another version folder":                                          false,
		`where "another version" of the index is checked for a folder`:    true,
		`where "another folder" of the version is checked for a folder`:   false,
		"“another version” index":                                         true,
		`"version" of another folder`:                                     false,
	} {
		hits := Search([]Shard{shard}, Request{Text: text, Limit: 10, Explain: true})
		if len(hits) == 0 {
			t.Errorf("%s: nothing is found", text)
			continue
		}
		first := shard.Files[shard.Chunks[hits[0].Chunk].File].Path
		said := slices.ContainsFunc(hits[0].Why, func(r Reason) bool { return r.Signal == "phrase" })
		if said != phrase || phrase && first != "message.go" {
			t.Errorf("%s: %s is first, by a phrase: %t", text, first, said)
		}
	}
}

// TestTextsThatAreElsewhereAreReadForPhrases: of what may have one alone, and an error of that is returned.
func TestTextsThatAreElsewhereAreReadForPhrases(t *testing.T) {
	shard := indexed(t, map[string]string{
		"message.go": "package p\n\nfunc check() {\n\tfail(\"the token of the login has expired\")\n" + filler(8) + "}\n",
		"login.go":   "package p\n\nfunc login() {\n\ttoken()\n" + filler(8) + "}\n",
	})
	var read []string
	look := func(text string, failed error) error {
		read = nil
		p := NewPlan(Request{Text: text, Limit: 10}, Local([]Shard{shard}))
		_, err := p.Rank([]Shard{shard}, func(files []FileOf) error {
			for _, f := range files {
				read = append(read, shard.Files[f.File].Path)
			}
			return failed
		})
		return err
	}
	if err := look("the token of the login has expired", nil); err != nil || strings.Join(read, " ") != "message.go" {
		t.Errorf("%v: %q are read", err, read)
	}
	if err := look("loginToken", nil); err != nil || len(read) > 0 {
		t.Errorf("for a name: %v: %q are read", err, read)
	}
	away := errors.New("away")
	if err := look("the token of the login has expired", away); !errors.Is(err, away) {
		t.Errorf("%v is returned", err)
	}
}
