package app

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/eval"
	"countersign.dev/internal/result"
	"countersign.dev/internal/toolsearch"
)

// decoys are tools of other servers, as a company may add them: more than ours, and
// some of them about the same things.
func decoys(t testing.TB) (all []result.ToolInfo) {
	t.Helper()
	f, err := os.Open("testdata/decoys.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, description, ok := strings.Cut(lines.Text(), ": ")
		if !ok {
			t.Fatalf("no description: %q", lines.Text())
		}
		all = append(all, result.ToolInfo{Name: name, Description: description})
	}
	return all
}

// How often does a search with a question's own words find a tool that answers it,
// among ours and decoys? A model's query is shorter and better than a question, so
// this is a floor. Questions that rest on no call are not counted.
func TestSearchFindsTheToolsOfTheQuestions(t *testing.T) {
	t.Parallel()
	var tools []result.ToolInfo
	for _, infos := range inventory(t) {
		tools = append(tools, infos...)
	}
	ours := len(tools)
	tools = append(tools, decoys(t)...)
	if len(tools) < ours+60 {
		t.Fatalf("%d tools, %d of them ours: there are too few decoys", len(tools), ours)
	}
	index, core := toolsearch.New(tools), coreOf(t)
	sets, err := eval.Sets("")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		asked, offered, found := 0, 0, map[int]int{}
		for _, c := range set.Conversations {
			q := c.Turns[0] // a later one may name nothing
			for _, call := range q.Calls {
				asked++
				names := index.Search(q.Ask, 10)
				answers := func(n string) bool { return slices.Contains(call.Tools, n) }
				if slices.ContainsFunc(slices.Concat(core, names[:min(6, len(names))]), answers) {
					offered++
				}
				for _, k := range []int{1, 3, 6, 10} {
					if slices.ContainsFunc(names[:min(k, len(names))], answers) {
						found[k]++
					}
				}
			}
		}
		rate := func(k int) int { return 100 * found[k] / asked }
		t.Logf("%s: of %d calls, %d %% first, %d %% among 3, %d %% among 6, %d %% among 10 of %d tools", set.Name, asked, rate(1), rate(3), rate(6), rate(10), len(tools))
		t.Logf("%s: %d %% are offered from the beginning or among 6", set.Name, 100*offered/asked)
		if 100*offered < coreFloor*asked {
			t.Errorf("%s: %d %% of the tools are offered from the beginning or among the first 6, want at least %d %%", set.Name, 100*offered/asked, coreFloor)
		}
		if rate(6) < searchFloor {
			t.Errorf("%s: %d %% of the tools are among the first 6, want at least %d %%", set.Name, rate(6), searchFloor)
		}
	}
}

// searchFloor is the per cent of calls whose tool is among the six that a search
// finds.
const searchFloor = 80

// coreFloor is the per cent of calls whose tool is offered from the beginning, or
// among those six.
const coreFloor = 95

// coreOf are the names of the tools that are always offered of all our servers'.
func coreOf(t testing.TB) (names []string) {
	t.Helper()
	var open []agent.Tool
	for server, infos := range inventory(t) {
		for _, info := range infos {
			open = append(open, agent.Tool{ToolInfo: info, Server: server})
		}
	}
	for _, tool := range agent.Core(open) {
		names = append(names, tool.Name)
	}
	t.Logf("of our %d tools these %d are always offered: %v", len(open), len(names), names)
	return names
}
