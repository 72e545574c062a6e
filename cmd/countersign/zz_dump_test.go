package main

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"countersign.dev/internal/eval"
)

func TestZZDump(t *testing.T) {
	path := os.Getenv("ZZDUMP")
	if path == "" {
		t.Skip()
	}
	sets, err := eval.Sets("")
	if err != nil {
		t.Fatal(err)
	}
	answers := rehearsed(t, sharedDemo(t).Gateway, sets)
	slices.SortStableFunc(answers, func(a, b eval.Answered) int { return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Key, b.Key)) })
	f, _ := os.Create(path)
	defer f.Close()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	for _, a := range answers {
		_ = enc.Encode(map[string]any{"set": a.Set, "key": a.Key, "as": a.As, "q": a.Question, "result": a.Result, "calls": a.Calls, "text": a.Answer})
	}
}
