package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// press presses keys, one after the other.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

// tabTo presses Tab until something with a selector and a text in it has the focus.
func (p *tab) tabTo(selector, text string) {
	p.t.Helper()
	there := `document.activeElement.matches(` + quoted(selector) + `) && document.activeElement.textContent.includes(` + quoted(text) + `)`
	p.until(`[...document.querySelectorAll(` + quoted(selector) + `)].some((e) => e.textContent.includes(` + quoted(text) + `) && !e.disabled && e.getClientRects().length)`)
	for range 100 {
		if eval[bool](p, there) {
			return
		}
		p.press(kb.Tab)
	}
	p.t.Fatalf("no way by Tab to %s %q", selector, text)
}

// Without a mouse, a person finds a failed run, reads the reason, runs it again from there, and approves.
func TestTheMainJobIsDoneByKeys(t *testing.T) {
	s := newSite(t, httpapi.Operator, order, approval)
	s.start("order", "order-1", `{"lines": []}`)
	s.start("order", "order-2", `{"lines": []}`)
	s.start("refund", "refund-1", "null")
	s.send("order-1", "priced")
	p := newTab(t, s.url)
	p.open("/runs")
	p.sees("http_503, after")
	p.do(input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/")) // as one event, as of a keyboard: the handler of the key prevents the text
	p.until(`document.activeElement.matches("[data-search]")`)
	p.press("status:failed", kb.Enter)
	p.until(`location.search === "?q=status%3Afailed" && document.querySelectorAll(".list tbody tr").length === 1`)
	p.press(kb.Escape, kb.ArrowDown)
	p.until(`document.activeElement.matches("a[data-row]")`)
	p.press(kb.Enter)
	p.until(`location.pathname === "/runs/order-1"`)
	p.sees("charge failed (http_503)")
	p.tabTo("canvas", "")
	p.press(kb.ArrowDown, kb.ArrowDown, kb.ArrowDown)
	p.until(`new URLSearchParams(location.search).get("step") === "charge"`)
	p.sees("http_503: upstream is draining")
	p.tabTo("button", "Rerun from here…")
	p.press(kb.Enter)
	p.sees("3 kept, with their results")
	p.tabTo("dialog button", "Run 1 again")
	p.press(kb.Enter)
	p.until(`location.pathname.startsWith("/runs/") && location.pathname !== "/runs/order-1"`)
	p.sees("charge failed (http_503)")

	for !strings.HasPrefix(eval[string](p, `location.pathname`), "/decisions") { // the two keys belong together only if they come soon after each other
		p.press("g", "d")
	}
	p.sees("Is contract done as meant?")
	p.press(kb.ArrowDown)
	p.until(`document.activeElement.matches(".ask")`)
	p.press(kb.Enter)
	p.until(`location.pathname.startsWith("/decisions/")`)
	p.tabTo("#dec-r", "")
	p.press("within budget")
	p.tabTo("button", "Approve")
	p.press(kb.Enter)
	p.sees("Approved refund-1")
	p.sees("0 open")
}
