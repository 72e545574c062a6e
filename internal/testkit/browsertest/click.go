package browsertest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/chromedp/chromedp"
)

//go:embed click.js
var aim string

// confirm is true when the click reached its element. A page that is gone
// followed the click to another one.
const confirm = `globalThis.clicked?.() ?? true`

// Click clicks the first visible element that matches, as soon as it is enabled
// and at rest, and receives the events at its middle. A click that misses it,
// because the page moved meanwhile, does nothing and is tried again.
func (p *Page) Click(selector string) {
	p.t.Helper()
	ctx, cancel := p.step()
	defer cancel()
	if err := click(ctx, selector); err != nil {
		p.t.Fatalf("clicking %s: %v\nthe page says:\n%s", selector, err, p.Text("body"))
	}
}

// click returns the reason for which the last attempt failed when ctx ends.
func click(ctx context.Context, selector string) error {
	why := errors.New("the page did not answer")
	for ctx.Err() == nil {
		landed, err := attempt(ctx, selector)
		if landed {
			return nil
		}
		if ctx.Err() == nil {
			why = err
		}
	}
	return why
}

// attempt fails too when the page navigates before the click.
func attempt(ctx context.Context, selector string) (landed bool, err error) {
	at, err := take(ctx, selector)
	if err != nil {
		return false, err
	}
	_ = chromedp.Do(ctx, chromedp.MouseClickXY(at.X, at.Y)) // fails when the page that it opens is there first
	landed, err = chromedp.Run(ctx, chromedp.Evaluate[bool](confirm))
	if err != nil {
		return ctx.Err() == nil, err // gone while it was asked
	}
	return landed, errors.New("the click did not reach it")
}

// point is where to click, in pixels of the window, or why not yet.
type point struct {
	X   float64 `json:"x"`
	Y   float64 `json:"y"`
	Why string  `json:"why"`
}

func take(ctx context.Context, selector string) (point, error) {
	ctx, cancel := context.WithTimeout(ctx, attention)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Evaluate[point](fmt.Sprintf("(%s)(%s)", aim, quoted(selector)), chromedp.EvalAwaitPromise))
	if err == nil && at.Why != "" {
		err = errors.New(at.Why)
	}
	return at, err
}
