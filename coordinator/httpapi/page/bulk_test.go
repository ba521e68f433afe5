package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// All runs of a query are run again, and moved, after what that does was shown.
func TestManyRunsAreRunAgainAndMoved(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	for _, id := range []string{"a-1", "a-2"} {
		s.start("order", id, `{"lines": []}`)
		s.send(id, "priced")
	}
	s.start("order", "b-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.open("/runs?q=status%3Afailed")
	p.until(`document.querySelectorAll(".list tbody tr").length === 2`)
	p.click("button", "Run again…")
	p.sees("2 runs of this query; for 2 something changes")
	p.sees("will run")
	p.shoot("bulk-rerun")
	p.click("dialog button", "Run again 2 runs")
	p.sees("2 of 2 done")
	p.click("dialog button", "Close")

	s.publish(strings.Replace(order, "id: ship}", "id: ship}, {operation: quick, id: thank}", 1))
	p.open("/runs?q=b-1")
	p.sees("for the message priced")
	p.click("button", "Move…")
	p.write("dialog input", "order@2"+kb.Enter)
	p.sees("1 run of this query; for 1 something changes")
	p.shoot("bulk-move")
	p.click("dialog button", "Move 1 run")
	p.sees("1 of 1 done")
	p.click("dialog button", "Close")
	p.open("/runs/b-1?tab=steps")
	p.sees("thank")
}
