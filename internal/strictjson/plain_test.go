package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzPlain: what the quick reading accepts, the decoder does.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"a":2}`, `{"a":{"b":[1.50,-0,true,false,null,{},[]," \" \\ \n"]}} `, `{"a":1}x`, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e5}`, `{"a":"\u0061"}`, `{"\n":1}`,
		`{"/":1,"\/":2}`, `{"a":1;"b":2}`, `[1;2]`, `[1e5]`, `[1,]`, `[,1]`, `{"a":1,}`, `{"a"}`, `{"a":}`, `[tru]`, "[\"\xff\"]", "[\"\x1f\"]", `"a`, `"\`, `"\x"`, `-`, ``, ` `, `{`, `[`, `[1 2]`, `{"a" : 1 , "b" : 2}`,
		strings.Repeat("[", plainDepth) + strings.Repeat("]", plainDepth), strings.Repeat("[", plainDepth+1) + strings.Repeat("]", plainDepth+1),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !isPlain(b) {
			return
		}
		if err := reading(b, everything); err != nil {
			t.Errorf("%q is taken, and the decoder refuses it: %v", b, err)
		}
	})
}

// FuzzMembers: what the quick reading of an object accepts, encoding/json does, with the same
// members.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"a":2}`, ` { "a" : {"b":[1.50,-0,true,"\u00e4\ud800",{},[]]} , "b\n":null } `, `{"a":1}x`, `{"a":1e5}`, `{"a":"\u00g1"}`, `{"a":"\u00"}`, `{"a":"\x"}`, `{}`, `[]`, ``,
		`{"a":01}`, `{"a":1234567890123456789012}`, "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 15) + strings.Repeat("]", 15) + `}`, `{"a":1,}`, `{"a":`, `{"\u0061":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]string{}
		var raw []byte
		if !Members(b, func(name, value []byte) bool {
			if json.Unmarshal([]byte(`"`+string(name)+`"`), new(string)) != nil {
				t.Errorf("%q: the name %q is none", b, name)
			}
			got[string(name)], raw = string(value), value
			return true
		}) {
			return
		}
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%q is taken, and encoding/json refuses it: %v", b, err)
		}
		for name, value := range got {
			if other, there := want[name]; there && string(other) != value {
				t.Errorf("%q: %s is %s, want %s", b, name, value, other)
			}
		}
		if !bytes.ContainsRune(b, '\\') && len(got) != len(want) || raw != nil && !json.Valid(raw) {
			t.Errorf("%q: got %v, want %s", b, got, want)
		}
	})
}

// TestMembersCanBeRefused: the reading ends where its caller says so.
func TestMembersCanBeRefused(t *testing.T) {
	seen := ""
	if Members([]byte(`{"a":1,"b":2,"c":3}`), func(name, _ []byte) bool { seen += string(name); return seen != "ab" }) || seen != "ab" {
		t.Errorf("read %q", seen)
	}
}

// TestCallsArePlain: what is mostly sent is read quickly.
func TestCallsArePlain(t *testing.T) {
	for _, s := range []string{call, `{}`, `[]`, `"x"`, `0`, `-1.25`, ` { "a" : [ 1 , "ö😀" , null ] } `} {
		if !isPlain([]byte(s)) || Check([]byte(s)) != nil {
			t.Errorf("%s is left to the decoder", s)
		}
	}
}

const call = `{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"list_employees","arguments":{"department":"Engineering","limit":20,"active":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// BenchmarkCheck asks what the check of a call costs, against the decoder's.
func BenchmarkCheck(b *testing.B) {
	for name, check := range map[string]func([]byte) error{"check": Check, "decoder": func(b []byte) error { return reading(b, everything) }} {
		b.Run(name, func(b *testing.B) {
			document := []byte(call)
			b.ReportAllocs()
			for b.Loop() {
				if err := check(document); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
