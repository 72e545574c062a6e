package main

import (
	"bytes"
	"os/exec"
	"testing"
)

// TestGoldPlacesExist: every right place in this repository and in the standard
// library is there. Places of other corpora are checked when they are measured.
func TestGoldPlacesExist(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	questions, err := gold(map[string]string{"own": "../..", "go": string(bytes.TrimSpace(root)) + "/src"})
	if err != nil {
		t.Fatal(err)
	}
	halves := map[bool]int{}
	for _, q := range questions {
		halves[q.held]++
	}
	if halves[true] < 40 || halves[false] < 40 {
		t.Errorf("the halves have %v questions", halves)
	}
}
