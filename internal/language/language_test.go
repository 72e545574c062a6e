package language

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

var today = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func TestWordsAreTakenApart(t *testing.T) {
	for text, want := range map[string]string{
		"What's Sarah’s pay?":                                    "what is sarah's pay ?",
		"don't James' $420k 5 percent":                           "not james' 420000 5%",
		"time-off PTO/vacation O'Neill":                          "time off pto vacation oneill",
		"over (2k) and " + strings.Repeat("9", 305) + " billion": "over 2000 and " + strings.Repeat("9", 305) + " billion", // no number is infinite
		`say "Mr X" (now), ABC123`:                               "say Mr X now , abc123",
		"1 March 2026, March 5th":                                "2026-03-01..2026-03-02 , 2026-03-05..2026-03-06",
		"before March next month today":                          "before 2026-03-01..2026-04-01 2026-04-01..2026-05-01 2026-03-01..2026-03-02",
		"a1b2@x.y 31 April 12,5":                                 "a1b2@x.y 31 april 12,5",
	} {
		var got []string
		for _, tok := range Read(text, today) {
			got = append(got, spell(tok))
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, g, want)
		}
	}
}

func spell(tok Token) string {
	switch {
	case tok.Kind == Date:
		return tok.Span.From.Format(time.DateOnly) + ".." + tok.Span.To.Format(time.DateOnly)
	case tok.Kind == Quoted:
		return tok.Text
	case tok.Kind == Number:
		text := strconv.FormatFloat(tok.Value, 'f', -1, 64)
		if tok.Percent {
			text += "%"
		}
		return text
	case tok.Owns && strings.HasSuffix(tok.Low, "s"):
		return tok.Low + "'"
	case tok.Owns:
		return tok.Low + "'s"
	}
	return tok.Low
}

func TestAnotherTokenIsSaidAsThePersonDid(t *testing.T) {
	tokens := Read("close Rome's copy 4", today)
	tokens[1] = tokens[1].As(Token{Text: "TICK-001", Kind: Code, Owns: true})
	tokens[3] = tokens[3].As(Token{Text: "TICK-004", Kind: Code})
	if got, want := Said(tokens), "close Rome's copy 4"; got != want || Text(tokens) != "close TICK-001's copy TICK-004" {
		t.Errorf("got %q and %q, want %q", got, Text(tokens), want)
	}
}
