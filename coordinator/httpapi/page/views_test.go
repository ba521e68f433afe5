package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

const order = `{kind: Workflow, name: order, input: {type: object, required: [lines], properties: {lines: {type: array, items: {type: string}}}},
 operations: {ask: {wait: {message: priced}}, quick: {value: {ok: true}}, bad: {fail: {code: http_503, message: upstream is draining}}},
 steps: [{operation: quick, id: receive}, {parallel: {steps: [{operation: ask, id: price}, {operation: quick, id: load}]}},
  {operation: bad, id: charge}, {operation: quick, id: ship}]}`

func TestTheListIsLiveAndItsCountsAreFilters(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	p := newTab(t, s.url)
	p.open("/")
	p.sees("Nothing has run here yet")
	p.shoot("empty")
	s.start("order", "order-1", `{"lines": []}`)
	p.open("/runs")
	p.sees("order-1")
	p.sees("for the message priced at price")
	s.start("order", "order-2", `{"lines": []}`)
	p.sees("1 newer run")
	p.click("button", "1 newer run")
	p.sees("order-2")
	s.send("order-1", "priced")
	p.sees("http_503, after")
	p.until(`document.querySelector(".count b").textContent === "1"`)
	p.shoot("runs")
	p.click(".count", "failed")
	p.until(`location.search === "?q=status%3Afailed" && document.querySelectorAll(".list tbody tr").length === 1`)

	p.write("[data-search]", "staus:failed"+kb.Enter)
	p.allow("400 (Bad Request)")
	p.sees(`did you mean "status"?`)
}

func TestARunExplainsItselfAndIsChanged(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": ["pump"]}`)
	p := newTab(t, s.url)
	p.open("/runs/order-1?tab=steps")
	p.sees("price waits for message")
	p.click("button", "Pause…")
	p.write("dialog input", "stock is counted")
	p.click("dialog button", "Pause")
	p.until(`document.querySelector(".runhead .chip").textContent === "paused"`)
	p.click("button", "Resume")
	p.click("dialog button", "Resume")
	p.click("button", "Send…")
	p.until(`document.querySelector("dialog input").value === "priced"`)
	p.click("dialog button", "Send")
	p.sees("charge failed (http_503), so 1 step will not run.")
	p.click(".step-row", "charge")
	p.sees("http_503: upstream is draining")
	p.until(`document.querySelector(".tries tr")`)
	p.shoot("steps")
	p.click("button", "Retry charge")
	p.until(`document.querySelectorAll(".tries tr").length === 2`)

	p.do(chromedp.KeyEvent(kb.Escape))
	p.until(`!document.querySelector(".panel")`)
	p.click(".tabs a", "Events")
	p.sees("node.retried")
	p.shoot("events")
	p.click(".tabs a", "Output")
	p.sees("pump")
	p.shoot("output")
}

func TestARunIsCancelled(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.open("/runs/order-1")
	p.click("button", "Cancel…")
	p.click("dialog button", "Cancel the run")
	p.until(`document.querySelector(".runhead .chip").textContent === "aborted"`)
	p.sees("A command ended it")
}

func TestAViewerSeesNoButtonThatWouldBeRefused(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: "vic", Role: httpapi.Viewer}})
	require.NoError(t, err)
	p := newTab(t, serve(t, handler))
	p.open("/runs/order-1?step=price")
	p.sees("vic · viewer")
	p.sees("Why")
	require.Empty(t, eval[[]string](p, `[...document.querySelectorAll("main button.btn")].map((b) => b.textContent)`))
}

func TestTheGraphIsLiveAndWalkedByKeys(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.open("/runs/order-1")
	p.sees("1 running")
	p.shoot("graph")
	s.send("order-1", "priced")
	p.until(`document.querySelector(".ticker").innerText.includes("1 failed")`)
	p.do(chromedp.Focus("canvas.graph-c"), chromedp.KeyEvent(kb.ArrowDown))
	p.until(`new URLSearchParams(location.search).get("step") === "receive"`)
	p.do(chromedp.Focus("canvas.graph-c"), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	p.until(`new URLSearchParams(location.search).get("step") === "charge"`)
	p.sees("http_503: upstream is draining")
	p.shoot("graph-step")
	p.write("[data-search]", "shi")
	p.until(`new URLSearchParams(location.search).get("find") === "shi"`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.click(".ticker button", "aborted")
	p.until(`new URLSearchParams(location.search).get("step") === "ship"`)
}

func TestAPersonSignsInByThePrintedAddressOrWithAToken(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Authenticate: func(token string) (httpapi.Identity, bool) {
		return httpapi.Identity{Name: "vic", Role: httpapi.Viewer}, token == "secret-canary"
	}})
	require.NoError(t, err)
	p := newTab(t, serve(t, handler))
	p.allow("401 (Unauthorized)")
	p.open("/runs/order-1")
	p.sees("Who are you?")
	p.shoot("sign-in")
	p.write(`[type="password"]`, "wrong")
	p.click("button", "Sign in")
	p.sees("the token is not valid")
	p.write(`[type="password"]`, "secret-canary")
	p.click("button", "Sign in")
	p.sees("vic · viewer")
	p.sees("price waits for message")
	require.NotContains(t, eval[string](p, `document.documentElement.outerHTML + location + JSON.stringify(localStorage) + document.cookie`), "secret-canary")
	p.click("button", "Sign out")
	p.sees("Who are you?")
	p.open(handler.Invite(httpapi.Identity{Name: "ann", Role: httpapi.Admin}))
	p.sees("ann · admin")
}

const approval = `{kind: Workflow, name: refund, operations: {draft: {value: {total: 249, currency: EUR}}, pay: {value: {paid: true}}},
 steps: [{operation: draft, id: contract, fulfillment: {policy: external_decision, decision_source: {kind: operator, timing: {timeout: PT2H}},
  on_not_fulfilled: fail, on_error: fail}}, {operation: pay, id: pay-out}]}`

func TestARunIsStartedByAFormAndRunAgainWithAPreview(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	p := newTab(t, s.url)
	p.open("/workflows")
	p.shoot("workflows")
	p.click("a", "Start…")
	p.sees("Still needed: lines")
	p.write("#f-lines", `["pump"`)
	p.sees("This is no JSON")
	p.write("#f-lines", `["pump"]`)
	p.write("#run-id", "order-1")
	p.write("#run-labels", "team=payments")
	p.shoot("start")
	p.click("button", "Start the run")
	p.until(`location.pathname === "/runs/order-1"`)
	s.send("order-1", "priced")
	p.sees("charge failed")
	p.open("/runs/order-1?step=price")
	p.click("button", "Rerun from here…")
	p.sees("2 kept, with their results")
	p.shoot("rerun")
	p.click("dialog button", "Run 3 again")
	p.until(`location.pathname.startsWith("/runs/") && location.pathname !== "/runs/order-1"`)
	p.sees("price waits for message")
}

func TestAPersonApprovesInTheInbox(t *testing.T) {
	s := newSite(t, httpapi.Operator, approval)
	s.start("refund", "refund-1", "null")
	p := newTab(t, s.url)
	p.open("/runs")
	p.until(`document.querySelector(".nav .n")?.textContent === "1"`)
	p.click(".nav a", "Decisions")
	p.sees("Is contract done as meant?")
	s.start("refund", "refund-2", "null")
	p.sees("2 open")
	p.shoot("decisions")
	p.click(".ask", "refund-1")
	p.write("#dec-r", "within budget")
	p.click(".decide button", "Approve")
	p.sees("1 open")
	p.open("/runs/refund-1?tab=events")
	p.sees("by ann · within budget")
}

func TestManyRunsAreCancelledAfterTheyWereCounted(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	for _, id := range []string{"a-1", "a-2", "a-3"} {
		s.start("order", id, `{"lines": []}`)
	}
	p := newTab(t, s.url)
	p.open("/runs?q=status%3Awaiting")
	p.click("button", "Cancel…")
	p.sees("3 runs of this query; for 3 something changes")
	p.shoot("bulk")
	p.click("dialog button", "Cancel 3 runs")
	p.sees("3 of 3 done")
	p.click("dialog button", "Close")
	p.until(`document.querySelectorAll(".list tbody tr.faint").length === 3`)
}

func TestADraftIsCheckedWhileItIsWritten(t *testing.T) {
	s := newSite(t, httpapi.Author, order)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.open("/publish")
	p.sees("can be published")
	p.write("textarea", strings.Replace(order, "id: ship}", "id: ship}, {operation: quick, id: last, input: '{{ steps.chargee.output }}'}", 1))
	p.click("button", "Write charge")
	p.sees("Against")
	p.sees("added: last")
	p.shoot("publish")
	p.click("button", "Publish")
	p.until(`location.pathname === "/workflows/order"`)
	p.sees("version 2")
	p.shoot("workflow")
}
