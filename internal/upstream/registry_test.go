package upstream

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"countersign.dev/internal/result"
)

// fixedTools is an adapter of a server whose tools are given to keep.
type fixedTools struct{}

func (fixedTools) Tools(context.Context) ([]result.ToolInfo, error) { return nil, nil }
func (fixedTools) Call(context.Context, string, json.RawMessage) (result.Outcome, error) {
	return result.Outcome{}, nil
}
func (fixedTools) Close() {}

func toolsNamed(names ...string) (tools []result.ToolInfo) {
	for _, name := range names {
		tools = append(tools, result.ToolInfo{Name: name, Roles: []string{"employee"}})
	}
	return tools
}

// TestSnapshotStaysAsItWasLoaded: a reader that has loaded the registry sees the
// servers, lists and routes of that moment, whatever is published afterwards.
func TestSnapshotStaysAsItWasLoaded(t *testing.T) {
	notes := Server{Name: "notes", Key: "1", Foreign: func(func()) Adapter { return fixedTools{} }}
	u := New([]Server{notes}, Options{})
	defer u.Close()
	s := u.registry().servers[0]
	u.keep(s, u.registry().lists["notes"].version, toolsNamed("read", "write"), nil)

	loaded := u.registry()
	servers, lists, routes, names := slices.Clone(loaded.servers), maps.Clone(loaded.lists), maps.Clone(loaded.routes), slices.Clone(loaded.names)
	if len(routes) != 2 || lists["notes"].fetched.IsZero() {
		t.Fatalf("got the routes %v and a list of %v", names, lists["notes"].fetched)
	}
	u.invalidate(s)
	u.keep(s, u.registry().lists["notes"].version, toolsNamed("read", "search", "write"), nil)
	if now := u.registry(); len(now.routes) != 3 || now.lists["notes"].version == lists["notes"].version {
		t.Fatalf("got the routes %v after an update", now.names)
	}
	Foreign{u}.Replace([]Server{{Name: "other", Key: "2", Foreign: notes.Foreign}})

	list, then := loaded.lists["notes"], lists["notes"]
	if !slices.Equal(loaded.servers, servers) || len(loaded.lists) != len(lists) || !slices.Equal(loaded.names, names) || len(loaded.routes) != len(routes) {
		t.Errorf("the snapshot changed: servers %d, lists %d, names %v, routes %d", len(loaded.servers), len(loaded.lists), loaded.names, len(loaded.routes))
	}
	if list.version != then.version || list.fetched != then.fetched || len(list.tools) != len(then.tools) {
		t.Errorf("the list changed: version %d, fetched %v, %d tools", list.version, list.fetched, len(list.tools))
	}
}

// TestServerUnderOtherRulesHasWhatItHad: one that keeps its connection keeps its breaker,
// its meter and its tools, too, so that all who ask for its state are answered.
func TestServerUnderOtherRulesHasWhatItHad(t *testing.T) {
	made := func(func()) Adapter { return fixedTools{} }
	notes := Server{Name: "notes", Key: "1", Foreign: made}
	u := New([]Server{notes}, Options{})
	defer u.Close()
	before := u.registry().servers[0]
	u.keep(before, u.registry().lists["notes"].version, toolsNamed("read", "write"), nil)

	notes.Rules.Deny = []string{"write"}
	Foreign{u}.Replace([]Server{notes})
	after := u.registry().servers[0]
	if after == before || !slices.Equal(after.Rules.Deny, notes.Rules.Deny) {
		t.Fatalf("it has the rules %+v", after.Rules)
	}
	if after.breaker != before.breaker || after.meter != before.meter || after.found != before.found || after.adapter != before.adapter {
		t.Errorf("it lost something: %+v, before %+v", after, before)
	}
	asked := 0
	u.EachServer(func(string, bool, int64, int64, time.Duration) { asked++ })
	u.EachBreaker(func(string, int) { asked++ })
	if asked != 2 {
		t.Errorf("%d answers about its state", asked)
	}
}

// TestNoArgumentOfAForeignToolIsForAHeader: no call's headers are compared with its arguments,
// so no client is asked to send some. What only has the name of the mark stays.
func TestNoArgumentOfAForeignToolIsForAHeader(t *testing.T) {
	for given, want := range map[string]string{
		`{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`:                                                 `{"properties":{"region":{"type":"string"}}}`,
		`{"properties":{"a":{"properties":{"b":{"x-mcp-header":7}}},"n":{"maximum":12345678901234567890}}}`:                   `{"properties":{"a":{"properties":{"b":{}}},"n":{"maximum":12345678901234567890}}}`,
		`{"properties":{"x-mcp-header":{"type":"string","x-mcp-header":"A"},"default":{"x-mcp-header":"B"}}}`:                 `{"properties":{"default":{},"x-mcp-header":{"type":"string"}}}`,
		`{"anyOf":[{"x-mcp-header":"A"}],"items":{"x-mcp-header":"B"},"$defs":{"d":{"x-mcp-header":"C"}},"x-mcp-header":"D"}`: `{"$defs":{"d":{}},"anyOf":[{}],"items":{}}`,
		`{"properties":{"o":{"default":{"x-mcp-header":"kept"},"enum":[{"x-mcp-header":"kept"}]}}}`:                           `{"properties":{"o":{"default":{"x-mcp-header":"kept"},"enum":[{"x-mcp-header":"kept"}]}}}`,
		`{"b":1,"a":2}`: `{"b":1,"a":2}`,
	} {
		if got := supervised([]result.ToolInfo{{InputSchema: json.RawMessage(given)}})[0].InputSchema; string(got) != want {
			t.Errorf("%s:\ngot  %s\nwant %s", given, got, want)
		}
	}
}
