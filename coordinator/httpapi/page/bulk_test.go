package page_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// Runs that are chosen in the list are asked again, run again and moved, and no others, after a preview of the act was shown.
func TestChosenRunsAreAskedAgainRunAgainAndMoved(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	for _, id := range []string{"a-1", "a-12", "a,2"} {
		s.start("order", id, `{"lines": []}`)
		s.send(url.PathEscape(id), "priced")
		s.ends(id)
	}
	s.start("order", "b-1", `{"lines": []}`)
	p := newTab(t, s.url)
	choose := func(ids ...string) {
		for _, id := range ids {
			p.click(`[aria-label="Choose `+id+`"]`, "")
		}
	}
	p.open("/runs")
	p.sees("4 runs, newest first")
	choose("a-1", "a,2", "b-1")
	p.click(".bulk button", "Retry…")
	p.sees("3 runs chosen; for 2 something changes; 2 steps asked again")
	p.sees("b-1, a,2, a-1")
	p.shoot("chosen-retry")
	p.click("dialog button", "Retry 2 runs")
	p.sees("2 of 3 done")
	p.click("dialog button", "Close")
	p.until(`!document.querySelector(".bulk")`)
	attempts := func(id string) (n int) {
		for _, e := range s.get("/v1/runs/" + url.PathEscape(id) + "/events?step=charge")["items"].([]any) {
			if e.(map[string]any)["type"] == "call.requested" {
				n++
			}
		}
		return n
	}
	for id, want := range map[string]int{"a-1": 2, "a,2": 2, "a-12": 1} {
		s.ends(id)
		require.Equal(t, want, attempts(id), id)
	}

	choose("a-12")
	p.click(".bulk button", "Run again…")
	p.sees("1 run chosen; for 1 something changes")
	p.click("dialog button", "Run again 1 run")
	p.sees("1 of 1 done")
	p.click("dialog button", "Close")
	p.sees("1 newer run")

	s.publish(strings.Replace(order, "id: ship}", "id: ship}, {operation: quick, id: thank}", 1))
	choose("b-1")
	p.click(".bulk button", "Move…")
	p.write("dialog input", "order@2"+kb.Enter)
	p.sees("1 run chosen; for 1 something changes")
	p.click("dialog button", "Move 1 run")
	p.sees("1 of 1 done")
}

// All runs of a query are run again, and moved, after a preview of the act was shown.
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
