package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// longCard is higher than any window.
func longCard() object {
	card := pending("x1")
	card["message"] = "Delete Frank Davis?" + strings.Repeat("\nand one more line", 60)
	return card
}

// cardIsWhole says that all of the card's box, its title and its buttons are in view.
const cardIsWhole = `(() => { const v = document.getElementById("view").getBoundingClientRect(); return [...document.querySelectorAll("[data-card], [data-card] > header, [data-approve], [data-deny]")].every((n) => { const c = n.getBoundingClientRect(); return c.height > 0 && c.top >= v.top - 1 && c.bottom <= v.bottom + 1 }) })()`

// scrolled scrolls an element and waits until the page has seen that.
func (p *page) scrolled(node string, to int) {
	eval[bool](p, fmt.Sprintf(`new Promise((done) => { %s.scrollTop = %d; requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`, node, to))
}

// A window with too little height for the card's body beside its buttons, such as that of
// a phone on its side or of 400 % zoom, shows the card as it is: the page scrolls.
func TestCardInALowWindowIsReadByScrollingThePage(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int64{{640, 360}, {320, 256}} {
		g := newGateway(t)
		g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
		g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x9")}}))
		g.on("POST /api/query", turn(pending("x1")))
		p := newPage(t)
		p.Open(g.URL)
		p.Window(size[0], size[1])
		p.ask("Delete him")
		p.Sees("[data-unseen]", "when you have seen all of this request")
		p.Shot(fmt.Sprintf("card-low-%d", size[0]))
		if got := eval[int64](p, view+`.clientHeight`); got < size[1]/2 {
			t.Errorf("%d pixels high, the page shows %d pixels of what is said", size[1], got)
		}
		for at := 0; at < 2000; at += 50 {
			p.scrolled(view, at)
		}
		p.Misses("[data-unseen]")
		p.Click("[data-card=x1] [data-approve]")
		p.Sees("[data-card-state=approved]", deleted)
	}
}

const view = `document.getElementById("view")`

// readsCard scrolls through the body of the page's card.
func (p *page) readsCard() {
	for at := 0; at < 3000; at += 50 {
		p.scrolled(cardBody, at)
	}
	p.Misses("[data-unseen]")
}

const cardBody = `document.querySelector("[data-card] .card-body")`

// No card can be approved of which a part was never in view. A long one is whole in the
// window all the same: its body scrolls, and its buttons stay.
func TestLongCardIsWholeInViewAndSeenBeforeItIsApproved(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int64{{1100, 800}, {550, 400}, {360, 740}} {
		g := newGateway(t)
		g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
		g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x9")}}))
		g.on("POST /api/query", turn(object{"type": "text", "text": strings.Repeat("Words before it.\n\n", 30)}, longCard()))
		p := newPage(t)
		p.Open(g.URL)
		p.Window(size[0], size[1])
		p.Sees("[data-suggestion]", "Who works here?")
		p.Click("#question")
		p.ask("Delete him")
		p.Sees("[data-unseen]", "when you have seen all of this request")
		p.Sees("#strip", "1 request waits")
		p.Until(cardIsWhole)
		p.Shot(fmt.Sprintf("card-long-%d", size[0]))
		if got := eval[float64](p, cardBody+`.clientHeight`); got < 60 {
			t.Errorf("%d pixels high, the card shows %v pixels of its body", size[1], got)
		}
		p.scrolled(cardBody, 100_000) // what is between the beginning and the end was not in view
		p.scrolled(cardBody, 0)
		eval[bool](p, `(document.querySelector("[data-approve]").click(), true)`)
		if got := g.said(); len(got) != 0 {
			t.Errorf("sent %q before the card was seen", got)
		}
		p.Until(`document.activeElement === ` + cardBody) // from where the arrow keys scroll
		p.readsCard()
		p.Until(cardIsWhole)
		p.Click("[data-approve]")
		p.Sees("[data-card-state=approved]", deleted)
	}
}

// A card that is drawn anew has not been seen, whatever of the old one was.
func TestCardThatChangesIsSeenAgain(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.on("POST /api/confirm/{id}", g.hears(answer(http.StatusOK, approvedEnvelope())))
	p := withCard(t, g, pending("x1"))
	p.Until(`document.querySelector("[data-approve]").ariaDisabled !== "true"`)
	other := pending("x1")
	other["message"] = "Delete Eve Thompson?" + strings.Repeat("\nand one more line", 60)
	module[bool](p, "store.js", `return Boolean(m.see(arg))`, other)
	p.Sees("[data-card=x1]", "Delete Eve Thompson?")
	p.Sees("[data-unseen]", "when you have seen all of this request")
	eval[bool](p, `(document.querySelector("[data-approve]").click(), true)`)
	if got := g.said(); len(got) != 0 {
		t.Errorf("sent %q before the card was seen", got)
	}
}

// At 200 % zoom, and on a phone, a card that fits is whole in view with its button.
func TestCardIsWholeInViewWithItsButton(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	card := pending("x1")
	card["message"] = "Delete Frank Davis?"
	card["confirmationData"] = object{"action": "delete_employee", "employeeName": "Frank Davis", "expiresAt": time.Now().Add(5 * time.Minute).UnixMilli()}
	g.on("POST /api/query", turn(object{"type": "text", "text": strings.Repeat("Words before it.\n\n", 30)}, card))
	const whole = `(() => { const c = document.querySelector("[data-card]").getBoundingClientRect(), v = document.getElementById("view").getBoundingClientRect(); return c.top >= v.top - 1 && c.bottom <= v.bottom + 1 })()`
	for _, size := range [][2]int64{{1100, 800}, {550, 400}, {360, 740}} {
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
		p.Until(whole)
		if size[1] > 600 {
			p.Until(`document.querySelector("[data-approve]").ariaDisabled !== "true"`)
			spare := eval[int64](p, `document.getElementById("view").clientHeight - document.querySelector("[data-card]").offsetHeight`)
			p.Window(size[0], size[1]-spare+12) // it just fits, and not with what is below it
			p.Until(whole)
		}
	}
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
