package build

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"countersign.dev/internal/domain/codesearch/index"
)

// bar shows how far an index is, at what rate, and how long it will take.
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

// show draws the bar, ten times a second at most.
func (b *bar) show(p index.Progress) {
	now := time.Now()
	if !b.on || now.Sub(b.last) < 100*time.Millisecond && p.Files < p.Total || p.TotalBytes == 0 {
		return
	}
	b.last = now
	part, took := float64(p.Bytes)/float64(p.TotalBytes), now.Sub(b.began)
	left := time.Duration(float64(took) * (1 - part) / max(part, 0.001)).Round(time.Second)
	const width = 30
	full := int(part * width)
	fmt.Fprintf(b.out, "\r%s [%s%s] %d of %d files, %.1f MB/s, %s left ", b.name, strings.Repeat("#", full), strings.Repeat(".", width-full), p.Files, p.Total, float64(p.Bytes)/1e6/took.Seconds(), left)
}

// end removes the bar.
func (b *bar) end() {
	if b.on && !b.last.IsZero() {
		fmt.Fprint(b.out, "\r\033[K")
	}
}
