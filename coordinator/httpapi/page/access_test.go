package page_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// axe returns the script of axe-core, which SLUICE_AXE names. Without it the test is skipped, or fails if SLUICE_BROWSER is "required".
// Short tests leave it out: the pages that it judges are the same in each of them.
func axe(t *testing.T) string {
	if testing.Short() {
		t.Skip("axe-core judges for half a minute")
	}
	name := os.Getenv("SLUICE_AXE")
	if name == "" {
		const why = "SLUICE_AXE does not name the file axe.min.js of axe-core"
		if os.Getenv("SLUICE_BROWSER") == "required" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	script, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(script)
}

// violations runs the rules of axe-core on the document of the tab: all of them, or those about colours.
const violations = `axe.run(document, COLOURS ? { runOnly: ["color-contrast"] } : {}).then((r) => r.violations.flatMap((v) =>
  v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + n.any.concat(n.all, n.none).map((c) => c.message).join("; "))))`

// audit requires that axe-core finds nothing: names, roles, focus and colours in the light theme, and on a narrow page in the dark one,
// colours there on a wide one; and that the page is no wider than its window.
func (p *tab) audit(script, what string) {
	p.t.Helper()
	for _, look := range []struct {
		theme   string
		width   int64
		colours bool
	}{{"light", 1280, false}, {"dark", 1280, true}, {"dark", 390, false}} {
		p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: look.theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}))
		p.fits(look.width)
		if !eval[bool](p, `"axe" in window`) {
			p.do(chromedp.Evaluate(script+"\n;0", nil))
		}
		var found []string
		p.do(chromedp.Evaluate(fmt.Sprintf(`{ const COLOURS = %t; %s }`, look.colours, violations), &found, awaiting))
		require.Empty(p.t, found, "%s, %s, %d px", what, look.theme, look.width)
	}
	p.fits(1280)
}

// The login page, and the page of a server on which nothing has run, have no violations either.
func TestAxeFindsNothingAtTheDoor(t *testing.T) {
	script := axe(t)
	s := newSite(t, httpapi.Author)
	p := newTab(t, s.url)
	p.open("/")
	p.sees("Nothing has run here yet")
	p.audit(script, "empty")
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Authenticate: func(string) (httpapi.Identity, bool) { return httpapi.Identity{}, false }})
	require.NoError(t, err)
	p = newTab(t, serve(t, handler))
	p.allow("401 (Unauthorized)")
	p.open("/")
	p.sees("Who are you?")
	p.audit(script, "sign-in")
	p.write(`[type="password"]`, "wrong")
	p.click("button", "Sign in")
	p.sees("the token is not valid")
	p.audit(script, "sign-in, refused")
}

// Each view has names, roles, an order of focus and contrast that people can use, in both themes.
func TestAxeFindsNothing(t *testing.T) {
	script := axe(t)
	s := newSite(t, httpapi.Author, order, approval, gated, freight, shop(t))
	s.start("order", "order-1", `{"lines": ["pump"]}`)
	s.start("order", "order-2", `{"lines": []}`)
	s.send("order-1", "priced")
	s.start("refund", "refund-1", "null")
	s.start("pages", "pages-1", "null")
	w := s.worker()
	s.start("freight", "freight-1", "null")
	w.take("opine", "atlas", "bureau", "credo", "delta")
	w.give("opine", "atlas", `{"limit": 250000}`)
	s.start("shop", "shop-1", "null")
	s.post("/v1/runs/shop-1/messages", `{"name": "OrderPlaced", "payload": {"order_id": "5521", "item": "pump", "cents": 1248}}`)
	p := newTab(t, s.url)
	for _, view := range []struct {
		path, sees   string
		button, then string // that opens a dialog, and a text in it
	}{
		{path: "/runs", sees: "http_503, after"},
		{path: "/runs?q=status:waiting", sees: "All runs of this query", button: "Cancel…", then: "Reason"},
		{path: "/runs?q=workflow:nothing", sees: "No run is like that"},
		{path: "/runs/order-1?step=charge", sees: "http_503: upstream", button: "Rerun from here…", then: "kept, with their results"},
		{path: "/runs/order-1?tab=steps&step=price", sees: "Attempts"},
		{path: "/runs/order-1?tab=timeline", sees: "1 attempt"},
		{path: "/runs/order-1?tab=events", sees: "call.requested"},
		{path: "/runs/order-1?tab=output", sees: "pump"},
		{path: "/runs/order-1?tab=log", sees: "not kept any more"},
		{path: "/runs/order-2", sees: "price waits", button: "Send…", then: "Payload"},
		{path: "/runs/pages-1?step=release", sees: "release", button: "Patch…", then: "as in ctx.PATH"},
		{path: "/runs/shop-1?cell=order[5521]", sees: "What happened"},
		{path: "/runs/freight-1?tab=fanouts&step=credit", sees: "One more opens it."},
		{path: "/decisions", sees: "Is contract done as meant?"},
		{path: "/workflows", sees: "refund"},
		{path: "/workflows/order", sees: "Versions"},
		{path: "/start/order", sees: "Still needed"},
		{path: "/publish", sees: "can be published"},
		{path: "/workers", sees: "Operations"},
	} {
		p.open(view.path)
		p.sees(view.sees)
		p.audit(script, view.path)
		if view.button != "" {
			p.click("button", view.button)
			p.sees(view.then)
			p.audit(script, view.path+", "+view.button)
		}
	}
}
