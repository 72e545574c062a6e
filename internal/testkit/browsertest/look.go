package browsertest

import (
	"bytes"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"

	"countersign.dev/internal/testkit"
)

// The pictures are compared in squares of so many pixels, by their mean colours: a
// letter that is drawn a little differently is no difference, a moved line is one.
const (
	square    = 8
	tolerance = 12   // of 255, for a channel of a square
	allowed   = 0.01 // of the squares
)

// still stops what changes by itself: times, what counts down, the caret. The font is
// one that every Debian with Chromium has.
const still = `(() => {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync("time, [data-countdown], progress { visibility: hidden !important } * { caret-color: transparent !important; animation: none !important; transition: none !important } :root { --sans: 'DejaVu Sans' !important; --mono: 'DejaVu Sans Mono' !important }");
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
	return document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))));
})()`

const moving = `(document.adoptedStyleSheets = document.adoptedStyleSheets.slice(0, -1)).length >= 0`

// fonts tells whether a text has another width without the font, in both kinds.
const fonts = `(() => {
	const wide = (font) => { const c = document.createElement("canvas").getContext("2d"); c.font = "40px " + font; return c.measureText("Countersign WMil 0123").width; };
	const has = (font) => wide("'" + font + "', serif") === wide("'" + font + "', cursive") && wide("'" + font + "', monospace") !== wide("serif");
	return has("DejaVu Sans") && has("DejaVu Sans Mono");
})()`

// Looks compares the window with testdata/looks/NAME.png, which -update writes anew.
// Without DejaVu's fonts nothing is compared, and where CI=true the test fails.
func (p *Page) Looks(name string) {
	p.t.Helper()
	p.Shot(name)
	if !Eval[bool](p, fonts) {
		say := p.t.Logf
		if os.Getenv("CI") == "true" {
			say = p.t.Errorf
		}
		say("%s is not compared with its picture: the fonts of DejaVu are missing (Debian: fonts-dejavu-core)", name)
		return
	}
	Eval[bool](p, still)
	defer Eval[bool](p, moving)
	file := filepath.Join("testdata", "looks", name+".png")
	if testkit.Updating() {
		if err := keep(file, p.picture()); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	p.compare(file)
}

// picture is how the window looks now.
func (p *Page) picture() image.Image {
	p.t.Helper()
	ctx, cancel := p.step()
	defer cancel()
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatalf("a screenshot: %v", err)
	}
	seen, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	return seen
}

// keep writes a picture with fewer colours, because it stays in the repository.
func keep(file string, picture image.Image) error {
	few := image.NewRGBA(picture.Bounds())
	draw.Draw(few, few.Rect, picture, few.Rect.Min, draw.Src)
	for i, channel := range few.Pix {
		few.Pix[i] = channel | 3 // white stays white, and opaque opaque
	}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few)
	return errors.Join(err, os.WriteFile(file, out.Bytes(), 0o644))
}

// compare looks again for a while: a page may still be scrolling, or drawing what
// has just come.
func (p *Page) compare(file string) {
	p.t.Helper()
	kept, err := os.ReadFile(file)
	if err != nil {
		p.t.Errorf("%v: write it with -update, and look at it", err)
		return
	}
	want, err := png.Decode(bytes.NewReader(kept))
	if err != nil {
		p.t.Fatalf("%s: %v", file, err)
	}
	var got image.Image
	share := 1.0
	for until := time.Now().Add(testkit.Patience); time.Now().Before(until); {
		got = p.picture()
		if share = differing(want, got); share <= allowed {
			return
		}
		Eval[bool](p, `new Promise((done) => setTimeout(() => done(true), 100))`)
	}
	seen := filepath.Join(os.TempDir(), "looks-"+filepath.Base(file))
	_ = keep(seen, got) // the test fails in any case
	p.t.Errorf("%.1f %% of the window differ from %s, %.0f %% are allowed: compare it with %s; -update writes it anew", 100*share, file, 100*allowed, seen)
}

// differing is the share of the squares whose mean colours differ; 1 when the sizes do.
func differing(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	differ, all := 0, 0
	size := a.Bounds().Size()
	for y := 0; y < size.Y; y += square {
		for x := 0; x < size.X; x += square {
			part := image.Rect(x, y, min(x+square, size.X), min(y+square, size.Y))
			all++
			if far(mean(a, part), mean(b, part)) {
				differ++
			}
		}
	}
	return float64(differ) / float64(all)
}

func far(a, b [3]int) bool {
	for i := range a {
		if d := a[i] - b[i]; d > tolerance || d < -tolerance {
			return true
		}
	}
	return false
}

// mean is the mean colour of a part of a picture, each channel of 255.
func mean(of image.Image, part image.Rectangle) (sum [3]int) {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			r, g, b, _ := of.At(x, y).RGBA()
			sum[0], sum[1], sum[2] = sum[0]+int(r>>8), sum[1]+int(g>>8), sum[2]+int(b>>8)
		}
	}
	n := part.Dx() * part.Dy()
	return [3]int{sum[0] / n, sum[1] / n, sum[2] / n}
}
