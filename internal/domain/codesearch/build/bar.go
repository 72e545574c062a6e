package build

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
)

// bar shows how far an index or its embeddings are, at what rate, and how long they will take.
type bar struct {
	out         io.Writer
	name        string
	on          bool
	began, last time.Time
}

// newBar makes one that shows nothing unless it is on and a person watches.
func newBar(out io.Writer, name string, on bool) *bar {
	return &bar{out: out, name: name, on: on && isTerminal(out), began: time.Now()}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show draws what was read of an index.
func (b *bar) show(p index.Progress) {
	if p.TotalBytes > 0 {
		part, took := float64(p.Bytes)/float64(p.TotalBytes), time.Since(b.began)
		b.draw(part, fmt.Sprintf("%d of %d files, %.1f MB/s", p.Files, p.Total, float64(p.Bytes)/1e6/took.Seconds()))
	}
}

// embedded draws what was embedded of an index.
func (b *bar) embedded(r embed.Report) {
	if missing := r.Chunks - r.Kept; missing > 0 {
		b.draw(float64(r.Made)/float64(missing), fmt.Sprintf("%d of %d embeddings, %.0f a second", r.Made, missing, float64(r.Made)/time.Since(b.began).Seconds()))
	}
}

// draw draws the bar, ten times a second at most and at the end, with the time left.
func (b *bar) draw(part float64, done string) {
	now := time.Now()
	if !b.on || now.Sub(b.last) < 100*time.Millisecond && part < 1 {
		return
	}
	b.last = now
	left := time.Duration(float64(now.Sub(b.began)) * (1 - part) / max(part, 0.001)).Round(time.Second)
	const width = 30
	full := int(part * width)
	fmt.Fprintf(b.out, "\r%s [%s%s] %s, %s left ", b.name, strings.Repeat("#", full), strings.Repeat(".", width-full), done, left)
}

// end removes the bar.
func (b *bar) end() {
	if b.on && !b.last.IsZero() {
		fmt.Fprint(b.out, "\r\033[K")
	}
}
