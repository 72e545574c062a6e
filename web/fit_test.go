package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// longCard is higher than any window.
func longCard() object {
	card := pending("x1")
	card["message"] = "Delete Frank Davis?" + strings.Repeat("\nand one more line", 60)
	return card
}

const view = `document.getElementById("view")`

// inView says that boxes of the card are in view as a whole.
func inView(frame, boxes string) string {
	return fmt.Sprintf(`(() => { const v = document.querySelector(%q).getBoundingClientRect(); const all = [...document.querySelectorAll(%q)].filter((n) => n.offsetHeight); return all.length > 0 && all.every((n) => { const c = n.getBoundingClientRect(); return c.top >= v.top - 1 && c.bottom <= v.bottom + 1 }) })()`, frame, boxes)
}

var cardIsWhole = inView("#view", "[data-card], [data-card] > header, [data-card] button")

const (
	sheetView = `document.querySelector(".sheet-view")`
	live      = `document.querySelector("[data-approve]").ariaDisabled !== "true"`
	shown     = `document.querySelector("[data-approve]").checkVisibility()`
)

// scrolled scrolls an element and waits until the page has seen that.
func (p *page) scrolled(node string, to int) {
	eval[bool](p, fmt.Sprintf(`new Promise((done) => { %s.scrollTop = %d; requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`, node, to))
}

// readsCard opens the sheet of the page's card and scrolls through it.
func (p *page) readsCard() {
	p.Click("[data-read]")
	p.readsSheet()
}

func (p *page) readsSheet() {
	for at := 0; at < 3000; at += 50 {
		p.scrolled(sheetView, at)
	}
	p.Until(live)
}

func (p *page) resting() {
	eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
}

// A card that is higher than its place has no button to approve there. It is read on a
// sheet, and approved when no part of it is left that was not in view: as the window is
// now, since another size draws it anew.
func TestLongCardIsReadOnASheet(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int64{{1100, 800}, {550, 400}, {360, 740}, {640, 360}, {320, 256}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
			g.on("POST /api/query", turn(object{"type": "text", "text": strings.Repeat("Words before it.\n\n", 30)}, longCard()))
			p := newPage(t)
			p.Open(g.URL)
			p.Window(size[0], size[1])
			p.Sees("[data-suggestion]", "Who works here?")
			p.Click("#question")
			p.ask("Delete him")
			p.Sees("[data-read]", "Read all of it and answer")
			if size[1] >= 360 {
				p.Until(cardIsWhole)
			}
			p.Shot(fmt.Sprintf("card-long-%d", size[0]))
			if eval[bool](p, shown) {
				t.Error("a card that is not whole in view has its button")
			}
			p.Click("[data-read]")
			p.Sees(".sheet", "Alice Chen")
			p.Sees(".sheet [data-unseen]", "when you have seen all of this request")
			p.scrolled(sheetView, 100_000) // what is between the beginning and the end was not in view
			p.scrolled(sheetView, 0)
			eval[bool](p, `(document.querySelector("[data-approve]").click(), true)`)
			if got := g.said(); len(got) != 0 {
				t.Errorf("sent %q before the card was seen", got)
			}
			p.Until(sheetView + `.scrollTop > 50`) // it leads to what was not seen
			p.readsSheet()
			p.Window(size[0]-20, size[1])
			p.Until(`!(` + live + `)`)
			p.readsSheet()
			p.Click("[data-approve]")
			p.Sees("[data-card-state=approved]", deleted)
			p.Misses(".sheet")
			p.Until(`document.activeElement.matches("#log [data-card]")`)
		})
	}
}

// cut counts what of a card's own content cannot be read where it is.
const cut = `[...document.querySelectorAll("[data-card] .card-body > *")].filter((n) => !n.checkVisibility() || n.scrollHeight > n.clientHeight + 2 && n.matches(".card-message")).length`

// What was answered is read as a whole in its place, however high it is, here and in a
// window that was only looking on.
func TestReceiptOfALongCardIsWhole(t *testing.T) {
	t.Parallel()
	for state, said := range map[string]object{
		"approved": approvedEnvelope(),
		"denied":   {"status": "cancelled", "message": "Action cancelled by user"},
		"failed":   {"status": "error", "code": "CONFIRMATION_STALE", "message": "The salary has changed since."},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			events := make(chan object, 1)
			g.on("GET /api/events", g.happens(events))
			p := withCard(t, g, longCard())
			p.Window(1280, 650)
			p.Sees("[data-read]", "Read all of it and answer")
			if eval[int](p, cut) == 0 {
				t.Fatal("the card that waits is not folded")
			}
			if state == "denied" { // elsewhere
				g.on("GET /api/confirmations/{id}", answer(http.StatusOK, object{"confirmationId": "x1", "state": "denied", "answered": "2026-11-20T09:30:00Z"}))
				events <- object{"type": "change", "confirmationId": "x1", "server": "hr", "tool": "delete_employee", "state": "denied"}
			} else {
				g.on("POST /api/confirm/{id}", answer(http.StatusOK, said))
				p.readsCard()
				p.Click("[data-approve]")
			}
			p.Sees("[data-card-state="+state+"] [data-card-receipt]", "Audit id x1")
			p.resting()
			if n := eval[int](p, cut); n != 0 {
				t.Errorf("%d parts of the receipt cannot be read", n)
			}
		})
	}
}

// Paper has all of a card, though it waits.
func TestPaperHasAllOfALongCard(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	p := withCard(t, g, longCard())
	p.Sees("[data-read]", "Read all of it and answer")
	p.Print()
	if n := eval[int](p, cut); n != 0 {
		t.Errorf("%d parts of the card are not on paper", n)
	}
	p.Misses("[data-card] button")
}

// Who goes back from the sheet finds the card in its place, and Escape goes back.
func TestSheetGivesItsCardBack(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	p := withCard(t, g, longCard())
	for _, back := range []func(){func() { p.Click("[data-sheet-close]") }, func() { p.Press(kb.Escape) }} {
		p.Click("[data-read]")
		p.Sees(".sheet [data-card=x1]", "one more line")
		back()
		p.Misses(".sheet")
		p.Until(`document.activeElement.matches("#log [data-card=x1]")`)
		p.Sees("#log [data-read]", "")
	}
}

// A card that is drawn anew has not been seen, whatever of the old one was.
func TestCardThatChangesIsSeenAgain(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	p := withCard(t, g, longCard())
	p.readsCard()
	other := longCard()
	other["message"] = strings.Replace(other["message"].(string), "Frank Davis", "Eve Thompson", 1)
	module[bool](p, "store.js", `return Boolean(m.see(arg))`, other)
	p.Sees("[data-card=x1]", "Delete Eve Thompson?")
	p.Sees("[data-unseen]", "when you have seen all of this request")
	p.scrolled(sheetView, 0)
	eval[bool](p, `(document.querySelector("[data-approve]").click(), true)`)
	if got := g.said(); len(got) != 0 {
		t.Errorf("sent %q before the card was seen", got)
	}
}

// At 200 % zoom, and on a phone, a card is whole in view when it can be approved: in its
// place where it fits, else on its sheet. Neither is left live where it is cut.
func TestCardIsWholeInViewWithItsButton(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int64{{1100, 800}, {640, 400}, {360, 740}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			card := pending("x1")
			data := card["confirmationData"].(object)
			delete(data, "origin")
			g.on("POST /api/query", turn(object{"type": "text", "text": strings.Repeat("Words before it.\n\n", 30)}, card))
			p := newPage(t)
			p.Open(g.URL)
			p.Window(size[0], size[1])
			p.Sees("[data-suggestion]", "Who works here?")
			p.Click("#question")
			p.ask("Delete him")
			p.Sees("[data-card=x1]", "Delete Frank Davis")
			p.Shot(fmt.Sprintf("card-%d", size[0]))
			if got := eval[float64](p, `document.getElementById("top").offsetHeight`); got > 90 {
				t.Errorf("%d pixels wide, the header has %v pixels, want at most 90", size[0], got)
			}
			p.Until(cardIsWhole)
			if size[1] == 800 {
				p.Until(live)
				p.Window(size[0], 400) // as if it were zoomed
				p.Until(`!(` + shown + `)`)
				p.Window(size[0], size[1])
			} else {
				p.Click("[data-read]")
			}
			p.Until(inView("body", "[data-card], [data-card] > header, [data-card] .facts, [data-approve], [data-deny]"))
			p.Until(shown + ` && ` + live)
			p.Shot(fmt.Sprintf("card-whole-%d", size[0]))
		})
	}
}

// A card that is scrolled out of view in part is shown whole before it is approved.
func TestCardIsNotApprovedWhileItIsCut(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	card := pending("x1")
	g.on("POST /api/query", turn(object{"type": "text", "text": strings.Repeat("Words before it.\n\n", 30)}, card))
	p := newPage(t)
	p.Open(g.URL)
	p.ask("Delete him")
	p.Until(live)
	eval[bool](p, `(() => { const v = document.getElementById("view"), c = document.querySelector("[data-card]"); v.scrollTop += c.getBoundingClientRect().bottom - v.getBoundingClientRect().bottom - 60; return true })()`)
	p.Until(`!(` + live + `)`)
	p.resting()
	eval[bool](p, `(document.querySelector("[data-approve]").click(), true)`)
	if got := g.said(); len(got) != 0 {
		t.Errorf("sent %q while the card was cut", got)
	}
	p.Until(cardIsWhole + ` && ` + live)
	p.Click("[data-approve]")
	p.Sees("[data-card-state=approved]", deleted)
}

// What is said of an answer that did not arrive can make a card too high for its place.
// Then it is answered on its sheet.
func TestCardThatGrowsIsAnsweredOnItsSheet(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", answer(http.StatusServiceUnavailable, object{"error": "Redis", "message": "Redis"}))
	p := withCard(t, g, pending("x1"))
	spare := eval[int64](p, view+`.clientHeight - document.querySelector("[data-card]").offsetHeight`)
	p.Window(1100, 800-spare+4)
	p.Until(live + ` && ` + shown)
	p.Click("[data-approve]")
	p.Sees("[data-card-note]", "try again in a moment")
	p.resting()
	if !eval[bool](p, `document.querySelector("[data-read]").checkVisibility()`) {
		t.Fatal("the card is too high for its place and has no way to its sheet")
	}
	p.Click("[data-read]")
	g.on("POST /api/confirm/{id}", answer(http.StatusOK, approvedEnvelope()))
	p.Click(".sheet [data-approve]")
	p.Sees("[data-card-state=approved]", deleted)
}

// What the page says for a moment covers no button of a card.
func TestToastCoversNoAnswer(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x9")}}))
	g.on("POST /api/query", turn(longCard()))
	p.Open(g.URL)
	p.Window(360, 740)
	p.ask("Delete him")
	p.Sees("#strip", "1 request waits")
	module[bool](p, "store.js", `m.toast.value = { words: "The file has 50 of more than 550 rows, and its name says so." }; return true`, nil)
	p.Sees("#toast", "more than 550 rows")
	p.Until(cardIsWhole)
	covered := eval[bool](p, `(() => { const [toast, card] = ["#toast", "[data-card]"].map((one) => document.querySelector(one).getBoundingClientRect()); return toast.top < card.bottom && toast.bottom > card.top })()`)
	if covered {
		t.Error("the toast covers a part of the card")
	}
}
