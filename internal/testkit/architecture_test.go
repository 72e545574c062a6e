package testkit_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// bands are the rooms of the architecture from the program down to what all of
// it uses. A room covers those below it: llm covers llm/rehearsal.
var bands = []struct {
	name  string
	rooms []string
}{
	{"PROGRAM", []string{"cmd/countersign", "commandline", "bench/codesearch", "app", "storage", "local", "dependency", "config", "eval", "client"}},
	{"HOST", []string{"gateway", "live", "conversation", "session", "revocation", "usage", "oversight", "agent", "toolsearch", "guard", "llm", "connected", "mcpfile", "mcplock", "upstream", "auth", "web"}},
	{"DOMAINS", []string{"domain"}},
	{"KERNEL", []string{"approval", "mcpserver", "rest", "gate", "mcpwire", "tool", "confirm", "result", "facts", "money", "access", "fault", "schema", "seal", "strictjson", "flat", "deadline", "plaintext", "calendar", "english", "language", "pattern", "memo"}},
	{"GROUND", []string{"database", "sqlite", "state", "audit", "quota", "admission", "metrics", "httpx", "static", "telemetry", "embedded", "footprint", "supervise", "netguard", "company", "tokens", "elasticsearch"}},
}

const (
	pictureBegin = "<!-- Written by `go test ./internal/testkit -run TestArchitecture -update` from arrows_test.go. -->\n```\n"
	pictureEnd   = "```\n"
)

// TestArchitectureShowsTheArrows: ARCHITECTURE.md's picture is the map that
// TestArrows checks.
func TestArchitectureShowsTheArrows(t *testing.T) {
	before, rest, found := strings.Cut(read(t, "ARCHITECTURE.md"), pictureBegin)
	_, after, closed := strings.Cut(rest, pictureEnd)
	if !found || !closed {
		t.Fatalf("ARCHITECTURE.md has no picture after %q", pictureBegin)
	}
	testkit.Golden(t, "../../../ARCHITECTURE.md", []byte(before+pictureBegin+picture(t)+pictureEnd+after))
}

// drawnArrow is an arrow between two rooms in a drawing.
var drawnArrow = regexp.MustCompile(`([a-z/]+) ──► ([a-z/]+)|([a-z/]+) ◄── ([a-z/]+)`)

// TestDrawnArrowsAreOnTheMap: the drawing above the picture shows only arrows
// that exist.
func TestDrawnArrowsAreOnTheMap(t *testing.T) {
	drawing, _, found := strings.Cut(read(t, "ARCHITECTURE.md"), pictureBegin)
	arrowsDrawn := 0
	for line := range strings.Lines(drawing) {
		for m := drawnArrow.FindStringSubmatch(line); m != nil; m = drawnArrow.FindStringSubmatch(line) {
			from, to := m[1]+m[4], m[2]+m[3]
			if to != "everything" {
				checkDrawn(t, from, to)
				arrowsDrawn++
			}
			_, line, _ = strings.Cut(line, m[1]+m[3]+" ") // the second room may begin the next arrow
		}
	}
	if !found || arrowsDrawn < 5 {
		t.Errorf("%d arrows are drawn", arrowsDrawn)
	}
}

func checkDrawn(t *testing.T, from, to string) {
	t.Helper()
	room, known := arrows[from]
	if !known {
		room, known = arrows["internal/"+from]
	}
	if !known || !slices.Contains(room.ours, to) {
		t.Errorf("ARCHITECTURE.md draws %s ──► %s, which is no import", from, to)
	}
}

// picture writes a line for every room, in its band, with what it imports.
func picture(t *testing.T) string {
	t.Helper()
	left := slices.Sorted(maps.Keys(arrows))
	var page strings.Builder
	for _, band := range bands {
		fmt.Fprintf(&page, " %s\n", band.name)
		for _, top := range band.rooms {
			i := 0
			for _, room := range left {
				if name := strings.TrimPrefix(room, "internal/"); name == top || strings.HasPrefix(name, top+"/") {
					page.WriteString(line(name, arrows[room].ours))
					continue
				}
				left[i], i = room, i+1
			}
			if i == len(left) {
				t.Errorf("the band %s has the room %s, which is not on the map", band.name, top)
			}
			left = left[:i]
		}
	}
	if len(left) > 0 {
		t.Errorf("no band has %v", left)
	}
	return page.String()
}

// line wraps a room's imports at about 130 characters.
func line(room string, imports []string) string {
	const indent, width = 30, 130
	text := fmt.Sprintf("   %-22s ──► ", room)
	column := indent
	if len(imports) == 0 {
		return strings.TrimRight(fmt.Sprintf("   %-22s", room), " ") + "\n"
	}
	for _, name := range slices.Sorted(slices.Values(imports)) {
		if column+len(name) > width {
			text, column = strings.TrimRight(text, " ")+"\n"+strings.Repeat(" ", indent), indent
		}
		text, column = text+name+" ", column+len(name)+1
	}
	return strings.TrimRight(text, " ") + "\n"
}
