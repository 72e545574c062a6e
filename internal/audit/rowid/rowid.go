// Package rowid finds the ids of rows in the arguments of a call, which the audit log keeps,
// and in its answer, of which it keeps fingerprints. Start with [In] and [Fingerprints].
package rowid

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

const longest = 64 // characters of an id

// In lists the ids of rows that the arguments of a call name, separated by spaces: what
// is called an id and looks like one. They lead an auditor from a row to what was done
// with it; other arguments are kept as a digest alone.
func In(arguments map[string]any) string {
	var ids []string
	for name, value := range arguments {
		if id, ok := idOf(value); ok && IsName(name) {
			ids = append(ids, id)
		}
	}
	return Join(ids)
}

// IsName reports whether an argument of that name is called an id.
func IsName(name string) bool {
	return name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id")
}

// Is reports whether a text looks like an id.
func Is(text string) bool {
	return text != "" && len(text) <= longest && strings.IndexFunc(text, notInID) < 0
}

// Join writes ids as an event has them.
func Join(ids []string) string {
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// InJSON is [In] of encoded arguments. What is no object names no row.
func InJSON(arguments json.RawMessage) string {
	var values map[string]any
	_ = json.Unmarshal(arguments, &values)
	return In(values)
}

func idOf(value any) (string, bool) {
	switch id := value.(type) {
	case json.Number:
		return id.String(), len(id) <= longest
	case float64:
		return strconv.FormatFloat(id, 'f', -1, 64), true
	case string:
		return id, Is(id)
	}
	return "", false
}

// Bounds of the fingerprints of one answer.
const (
	mostShown = 1024
	printSize = 5       // characters of 6 bits
	unkept    = "+"     // at the end: the answer held more ids
	shortData = 1 << 10 // has less than 256 ids
)

const sixBits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// Fingerprints are those of the ids that encoded data holds, one after the other:
// what a list showed is found by its id, at five bytes for each where the ids themselves
// take forty. An id is the value of a field whose name [In] takes for one's, at any
// depth. One that was not shown has the fingerprint of one that was with a probability of
// 1 in 2^30 for each. After 1,024 ids the others are left out, and a plus says so.
func Fingerprints(data []byte) string {
	if len(data) < shortData { // most answers are, and less is cleared for them
		var seen [512]uint32
		var out [256 * printSize]byte
		return fingerprints(data, seen[:], out[:0])
	}
	var seen [2 * mostShown]uint32
	var out [mostShown*printSize + len(unkept)]byte
	return fingerprints(data, seen[:], out[:0])
}

// fingerprints uses seen as a table of the fingerprints in out, each with one added.
func fingerprints(data []byte, seen []uint32, out []byte) string {
	for id := nextID(&data); id != nil; id = nextID(&data) {
		print := printOf(id)
		at := print % uint32(len(seen))
		for seen[at] != 0 && seen[at] != print+1 {
			at = (at + 1) % uint32(len(seen))
		}
		if seen[at] != 0 {
			continue
		}
		if len(out) == mostShown*printSize {
			return string(append(out, unkept...))
		}
		seen[at] = print + 1
		out = appendPrint(out, print)
	}
	return string(out)
}

// Held reports whether an answer of those fingerprints held an id. sure is false where it
// held more ids than were kept, and this one is not among those.
func Held(prints, id string) (held, sure bool) {
	var text [printSize]byte
	want := string(appendPrint(text[:0], printOf([]byte(id))))
	kept, cut := strings.CutSuffix(prints, unkept)
	for ; len(kept) >= printSize; kept = kept[printSize:] {
		if kept[:printSize] == want {
			return true, true
		}
	}
	return false, !cut
}

// nextID is the next id in JSON, and moves past it; nil at the end. A quote inside of a
// text is escaped, so that what ends a name ends one everywhere.
func nextID(data *[]byte) []byte {
	rest := *data
	for {
		at := bytes.IndexByte(rest, ':')
		if at < 0 {
			return nil
		}
		name := rest[:at]
		rest = rest[at+1:]
		if !namesID(name) {
			continue
		}
		if id := leadingID(rest); id != nil {
			*data = rest
			return id
		}
	}
}

// namesID reports whether text ends with the name of an id, in its quotes.
func namesID(text []byte) bool {
	n := len(text)
	if n < 4 || text[n-1] != '"' || text[n-2] != 'd' {
		return false
	}
	return text[n-3] == 'I' || text[n-3] == 'i' && (text[n-4] == '"' || text[n-4] == '_')
}

// leadingID is the id with which JSON begins, a text or a number; nil when it is none.
func leadingID(text []byte) []byte {
	text = bytes.TrimLeft(text, " ")
	if len(text) == 0 {
		return nil
	}
	window := text[:min(len(text), longest+2)]
	if text[0] == '"' {
		if n := bytes.IndexByte(window[1:], '"'); n > 0 {
			return window[1 : 1+n]
		}
		return nil
	}
	for n, c := range window {
		if c >= '0' && c <= '9' {
			continue
		}
		if n > 0 {
			return window[:n]
		}
		break
	}
	return nil
}

// printOf mixes an id, whose letters count as small ones, to 30 bits.
func printOf(id []byte) uint32 {
	const small, mix = 0x2020202020202020, 0x9e3779b97f4a7c15
	h := uint64(len(id))
	for len(id) > 0 {
		var word [8]byte
		n := copy(word[:], id)
		h = (h ^ (binary.LittleEndian.Uint64(word[:]) | small)) * mix
		h ^= h >> 32
		id = id[n:]
	}
	return uint32(h * mix >> 34)
}

func appendPrint(out []byte, print uint32) []byte {
	return append(out, sixBits[print>>24&63], sixBits[print>>18&63], sixBits[print>>12&63], sixBits[print>>6&63], sixBits[print&63])
}

func notInID(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.:", c))
}
