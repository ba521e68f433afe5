package page_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// colleague returns the same site for another person.
func (s *site) colleague(name string) *site {
	s.t.Helper()
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: name, Role: httpapi.Operator}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(s.t, err)
	return &site{s.t, s.engine, serve(s.t, handler)}
}

var urgent = strings.NewReplacer("refund", "urgent", "PT2H", "PT5M").Replace(approval)

// The decision that the inbox shows is in its address, and stays: neither one that becomes more urgent nor the answer of a colleague puts
// another question under the typed text.
func TestTheDecisionThatIsShownChangesByAClickOnly(t *testing.T) {
	s := newSite(t, httpapi.Operator, approval, urgent)
	s.start("refund", "refund-1", "null")
	p := newTab(t, s.url)
	p.open("/decisions")
	p.until(`location.pathname.startsWith("/decisions/")`)
	address := eval[string](p, `location.pathname`)
	p.write("#dec-r", "within budget")
	s.start("urgent", "urgent-1", "null")
	p.sees("2 open")
	p.until(`document.querySelector(".ask").textContent.includes("urgent-1")`)
	const same = `location.pathname === ADDRESS && document.querySelector(".decide .crumb").textContent.includes("refund-1") && document.querySelector("#dec-r").value === "within budget"`
	require.True(t, eval[bool](p, strings.Replace(same, "ADDRESS", quoted(address), 1)))

	s.colleague("bob").post("/v1"+address, `{"decision": "not_fulfilled", "reason": "too dear"}`)
	p.sees("Refused by bob")
	p.sees("Reason: too dear")
	p.sees("Yours was not applied")
	require.True(t, eval[bool](p, strings.Replace(same, "ADDRESS", quoted(address), 1)))
	require.False(t, eval[bool](p, `[...document.querySelectorAll(".decide button")].some((b) => /Approve|Refuse/.test(b.textContent))`))
	p.shoot("decision-taken")
	late := newTab(t, s.url)
	late.open(address)
	late.sees("Refused by bob")
	late.sees("Reason: too dear")
	late.shoot("decision-taken-late")
	p.click(".decide a", "Next")
	p.until(`document.querySelector(".decide .crumb").textContent.includes("urgent-1") && document.querySelector("#dec-r").value === ""`)

	s.post("/v1/runs/urgent-1/cancel", `{"reason": "by mistake"}`)
	p.sees("This is asked no more")
	p.sees("the run is aborted, by ann. Reason: by mistake.")
	p.shoot("decision-cancelled")
}

// Two clicks at one place, or one key twice, decide one thing.
func TestAfterADecisionThePageWaits(t *testing.T) {
	s := newSite(t, httpapi.Operator, approval)
	for _, id := range []string{"refund-1", "refund-2", "refund-3"} {
		s.start("refund", id, "null")
	}
	p := newTab(t, s.url)
	p.open("/decisions")
	p.sees("3 open")
	place := eval[[]float64](p, `(() => { const r = document.querySelector(".decide .acts button").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	first := eval[string](p, `document.querySelector(".decide .crumb bdi").textContent`)
	p.do(chromedp.MouseClickXY(place[0], place[1]))
	p.sees("Approved " + first)
	p.do(chromedp.MouseClickXY(place[0], place[1]), chromedp.KeyEvent(kb.Enter))
	p.sees("2 open")
	p.sees("Approved " + first)
	p.shoot("decision-made")
	p.click(".decide a", "Next")
	p.until(`document.querySelector(".decide .acts button")?.textContent === "Approve"`)
	require.Len(t, s.get("/v1/decisions")["items"], 2)
}
