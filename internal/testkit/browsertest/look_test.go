package browsertest

import (
	"image"
	"image/color"
	"testing"
)

// page draws lines of text as grey stripes, from a height on.
func page(from int, ink uint8) image.Image {
	out := image.NewGray(image.Rect(0, 0, 160, 160))
	for y := range 160 {
		for x := range 160 {
			c := uint8(250)
			if y >= from && (y-from)%20 < 8 && x < 120 {
				c = ink
			}
			out.SetGray(x, y, color.Gray{Y: c})
		}
	}
	return out
}

func TestMovedLinesAreADifferenceAndShadesAreNone(t *testing.T) {
	was := page(16, 60)
	for name, c := range map[string]struct {
		now    image.Image
		differ bool
	}{
		"the same": {page(16, 60), false}, "drawn a little darker": {page(16, 52), false},
		"moved by a line": {page(24, 60), true}, "without its lines": {page(160, 60), true}, "another size": {image.NewGray(image.Rect(0, 0, 160, 161)), true},
	} {
		if got := differing(was, c.now); got > allowed != c.differ {
			t.Errorf("%s: %.3f of the squares differ", name, got)
		}
	}
}
