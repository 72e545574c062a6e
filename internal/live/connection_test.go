package live

import "testing"

// TestTwoMissedPongsInARowAreTheEnd: a slow client that answers every other ping stays
// connected without end.
func TestTwoMissedPongsInARowAreTheEnd(t *testing.T) {
	var p pulse
	for range 1000 {
		if p.missed() {
			t.Fatal("one missed pong ends the connection")
		}
		p.answered()
	}
	if p.missed() || !p.missed() {
		t.Error("two missed pongs in a row do not end the connection")
	}
}
