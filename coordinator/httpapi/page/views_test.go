package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

	p.allow("400 (Bad Request)")
	p.write("[data-search]", "staus:failed"+kb.Enter)
	p.sees(`did you mean "status"?`)
	p.open("/runs?q=staus:failed")
	p.sees(`did you mean "status"?`)
	require.Equal(t, 1, eval[int](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes("staus")).length`), "times it is refused")
}

// Typing while runs come and change loses no key, and no selection.
func TestWhatIsTypedStaysWhileRunsChange(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.open("/runs")
	p.sees("for the message priced at price")
	const text = "workflow:order label.team:payments"
	p.do(chromedp.Focus("[data-search]"))
	for i, key := range text {
		if i%8 == 0 {
			s.start("order", fmt.Sprint("more-", i), `{"lines": []}`)
		}
		p.press(string(key))
	}
	p.sees("5 newer runs")
	p.do(chromedp.Evaluate(`document.activeElement.setSelectionRange(9, 14)`, nil))
	s.send("order-1", "priced")
	p.sees("http_503, after")
	const field = `(() => { const e = document.activeElement; return [e.matches("[data-search]"), e.value, e.value.slice(e.selectionStart, e.selectionEnd)]; })()`
	require.Equal(t, []any{true, text, "order"}, eval[[]any](p, field))
	p.press("nothing", kb.Enter)
	p.sees("No run is like that")
	require.Equal(t, []any{true, "", ""}, eval[[]any](p, field))

	p.open("/runs/more-0")
	p.sees("2 waiting")
	p.write("[data-search]", "sh")
	s.send("more-0", "priced")
	p.sees("charge failed (http_503)")
	p.press("ip")
	require.Equal(t, []any{true, "ship", ""}, eval[[]any](p, field))
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

// A page of a run that has ended follows it when another client retries a step.
func TestARunThatIsReopenedElsewhereIsFollowed(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": ["pump"]}`)
	p := newTab(t, s.url)
	p.open("/runs/order-1?tab=steps&step=charge")
	for attempt := 1; attempt <= 3; attempt++ {
		if attempt == 1 {
			s.send("order-1", "priced")
		} else {
			s.post("/v1/runs/order-1/steps/charge/retry", "{}")
		}
		s.ends("order-1")
		p.until(fmt.Sprintf(`document.querySelector(".runhead .chip").textContent === "failed" && document.querySelectorAll(".tries tr").length === %d`, attempt))
	}
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

func TestADialogSaysThatTheRunHasEndedMeanwhile(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.open("/runs/order-1")
	p.click("button", "Cancel…")
	p.until(`!document.querySelector("dialog footer .btn.pri").disabled`)
	s.send("order-1", "priced")
	p.until(`document.querySelector("dialog").innerText.includes("The run has ended meanwhile: it is failed.")`)
	p.until(`document.querySelector("dialog footer .btn.pri").disabled`)
	p.shoot("dialog-ended")
}

func TestAViewerSeesNoButtonThatWouldBeRefused(t *testing.T) {
	s := newSite(t, httpapi.Operator, order, approval, gated, shop(t))
	s.start("order", "order-1", `{"lines": []}`)
	s.start("refund", "refund-1", "null")
	s.start("pages", "pages-1", "null")
	s.start("shop", "shop-1", "null")
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: "vic", Role: httpapi.Viewer}})
	require.NoError(t, err)
	p := newTab(t, serve(t, handler))
	for path, sees := range map[string]string{
		"/runs/order-1?step=price": "Why", "/runs/order-1?tab=steps&step=price": "Attempts", "/runs/order-1?tab=events": "call.requested", "/runs/order-1?tab=output": "Input",
		"/runs": "order-1", "/runs?q=status:waiting": "newest first", "/decisions": "Your role may look, and not decide.", "/workflows": "refund", "/workflows/order": "Versions",
		"/start/order": "Your role may look, and not start", "/publish": "Your role may look, and not publish.", "/workers": "No worker is there", "/runs/pages-1?step=release": "release", "/runs/shop-1": "waiting",
	} {
		p.open(path)
		p.sees("vic · viewer")
		p.sees(sees)
		require.Empty(t, eval[[]string](p, `[...document.querySelectorAll("main .btn")].map((b) => b.textContent).filter((text) => !["See it in the graph", "Runs"].includes(text))`), path)
	}
}

func TestTheGraphIsLiveAndWalkedByKeys(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.open("/runs/order-1")
	p.sees("2 waiting")
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

// A preview names the steps whose calls are not the same when they are made twice.
func TestARerunNamesWhatIsNotIdempotent(t *testing.T) {
	s := newSite(t, httpapi.Operator, `{kind: Workflow, name: pay, operations: {quick: {value: 1}}, steps: [{operation: quick, id: look}, {operation: quick, id: charge, idempotent: false}]}`)
	s.start("pay", "pay-1", "null")
	s.ends("pay-1")
	p := newTab(t, s.url)
	p.open("/runs/pay-1?step=look")
	p.click("button", "Rerun from here…")
	p.until(`document.querySelector("dialog .note.bad")?.textContent === "Not idempotent, and asked again: charge"`)
}

// A step that waits is not shown as moving, and the page names its wait: a message, a child run and the wait of that, a worker that is
// missing.
func TestWhatWaitsIsNotSaidToMove(t *testing.T) {
	const child = `{kind: Workflow, name: child, operations: {ask: {wait: {message: go}}}, steps: [{operation: ask, id: ask}]}`
	s := newSite(t, httpapi.Operator, child, `{kind: Workflow, name: work, steps: [{id: pay, operation: charge}]}`,
		`{kind: Workflow, name: above, operations: {sub: {workflow: {name: child}}}, steps: [{operation: sub, id: ship}]}`)
	s.start("child", "child-1", "null")
	s.start("work", "work-1", "null")
	s.start("above", "above-1", "null")
	p := newTab(t, s.url)
	for run, says := range map[string]string{
		"child-1": `/^ask waits for message "go"\.$/`, "work-1": `/^pay waits: no worker serves charge since \d\d:\d\d:\d\d\.$/`, "above-1": `/^ship waits for child run \S+, which waits for message "go"\.$/`,
	} {
		p.open("/runs/" + run)
		p.until(says + `.test(document.querySelector(".why").textContent)`)
		p.until(`document.querySelector(".ticker").innerText.trim() === "1 waiting"`)
	}
	p.open("/runs/work-1?step=pay")
	p.until(`/none serves charge since \d\d:\d\d:\d\d$/.test(document.querySelector(".panel .chain bdi").textContent)`)
}

// A step that asks a person is still drawn so if its steps were read before the feed began.
func TestAStepThatAsksAPersonIsNotDrawnAsCompleted(t *testing.T) {
	s := newSite(t, httpapi.Operator, approval)
	s.start("refund", "refund-1", "null")
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: "ann", Role: httpapi.Operator}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	drawn, again := make(chan struct{}), make(chan struct{})
	var reads atomic.Int32
	p := newTab(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.URL.Path == "/v1/feed" && req.URL.Query().Has("run"):
			<-drawn
		case req.URL.Path == "/v1/runs/refund-1/steps" && reads.Add(1) == 2: // the feed has begun: from here on only its frames count
			close(again)
			<-req.Context().Done()
			return
		}
		handler.ServeHTTP(w, req)
	})))
	p.open("/runs/refund-1")
	p.sees("1 asked")
	close(drawn)
	<-again
	p.until(`document.querySelector(".ticker").innerText.includes("1 asked")`)
	require.NotContains(t, eval[string](p, `document.querySelector(".ticker").innerText`), "completed")
}

// The message or the patch that a step waits for is sent from its panel.
func TestAMessageIsSentFromThePanel(t *testing.T) {
	s := newSite(t, httpapi.Operator, order, gated)
	s.start("order", "order-1", `{"lines": []}`)
	s.start("pages", "pages-1", "null")
	p := newTab(t, s.url)
	p.open("/runs/order-1?step=price")
	p.click(".panel footer button", "Send…")
	p.until(`document.querySelector("dialog input").value === "priced"`)
	p.click("dialog button", "Send")
	p.sees("charge failed")
	p.open("/runs/pages-1?step=release")
	p.click(".panel footer button", "Patch…")
	p.sees("Gates that are shut read")
}

// The page of an observer has no link to anything but statuses, and asks for nothing else.
func TestAnObserverHasNoLinkToWhatItMayNotSee(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: "obi", Role: httpapi.Observer}})
	require.NoError(t, err)
	p := newTab(t, serve(t, handler))
	for path, sees := range map[string]string{"/runs": "order-1", "/workflows": "order", "/runs/order-1": "Your role sees only statuses", "/decisions": "Your role sees only statuses", "/workflows/order": "Your role sees only statuses"} {
		p.open(path)
		p.sees("obi · observer")
		p.sees(sees)
		require.Empty(t, eval[[]string](p, `[...document.querySelectorAll("a[href]:not(.skip)")].map((a) => a.pathname).filter((path) => !["/runs", "/workflows", "/"].includes(path))`), path)
	}
}

// A text that turns the direction of the characters after it is shown with its marks, so that nothing after it is swallowed.
func TestMarksOfDirectionAreShown(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": ["a\u202eb"]}`)
	p := newTab(t, s.url)
	p.open("/runs/order-1?tab=output")
	p.sees(`"a\u202eb"`)
}

// The page of an unknown workflow has no button to try again.
func TestThereIsAWayOnFromAWorkflowThatIsNot(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	p := newTab(t, s.url)
	p.allow("404 (Not Found)")
	p.open("/workflows/nonesuch")
	p.click("a", "All workflows")
	p.sees("order")
	require.Equal(t, "/workflows", eval[string](p, `location.pathname`))
}

const approval = `{kind: Workflow, name: refund, operations: {draft: {value: {total: 249, currency: EUR}}, pay: {value: {paid: true}}},
 steps: [{operation: draft, id: contract, fulfillment: {policy: external_decision, decision_source: {kind: operator, timing: {timeout: PT2H}},
  on_not_fulfilled: fail, on_error: fail}}, {operation: pay, id: pay-out}]}`

func TestARunIsStartedByAFormAndRunAgainWithAPreview(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	p := newTab(t, s.url)
	p.open("/workflows")
	p.sees("Published")
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
	p.write("#dec-p", `{"seen": ["offer.pdf"`)
	p.sees("This is no JSON")
	p.until(`[...document.querySelectorAll(".decide .acts button")].every((b) => b.disabled)`)
	p.shoot("decision-payload")
	p.write("#dec-p", `{"seen": ["offer.pdf"], "total": 249}`)
	p.click(".decide button", "Approve")
	p.sees("1 open")
	p.open("/runs/refund-1?tab=events")
	p.sees("by ann · within budget")
	var kept []any
	for _, e := range s.get("/v1/runs/refund-1/events")["items"].([]any) {
		if e := e.(map[string]any); e["type"] == "decision.received" {
			kept = append(kept, e["value"])
		}
	}
	require.Equal(t, []any{map[string]any{"seen": []any{"offer.pdf"}, "total": 249.0}}, kept)
}

func TestManyRunsAreCancelledAfterTheyWereCounted(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	for _, id := range []string{"a-1", "a-2", "a-3"} {
		s.start("order", id, `{"lines": []}`)
	}
	p := newTab(t, s.url)
	p.open("/runs?q=status%3Awaiting")
	p.sees("3 runs, newest first") // each has come to where it waits
	p.click("button", "Cancel…")
	p.sees("3 runs of this query; for 3 something changes")
	p.shoot("bulk")
	p.click("dialog button", "Cancel 3 runs")
	p.sees("3 of 3 done")
	p.click("dialog button", "Close")
	p.until(`document.querySelectorAll(".list tbody tr.faint").length === 3`)
}

func TestActsAreOnTheChosenRunsAndNoOthers(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	for _, id := range []string{"a-1", "a-12", "a-2"} {
		s.start("order", id, `{"lines": []}`)
	}
	p := newTab(t, s.url)
	p.open("/runs")
	p.sees("3 runs, newest first")
	p.click(`[aria-label="Choose a-1"]`, "")
	p.click(`[aria-label="Choose a-2"]`, "")
	p.sees("2 runs chosen")
	p.until(`!document.querySelector(".foot .btn")`)
	p.shoot("chosen")
	p.click(".bulk button", "Cancel…")
	p.sees("a-2, a-1")
	p.click("dialog button", "Cancel 2 runs")
	p.sees("2 of 2 done")
	p.click("dialog button", "Close")
	p.until(`!document.querySelector(".bulk")`)
	status := func(id string) string {
		return `[...document.querySelectorAll(".list tbody tr")].find((r) => r.querySelector("a.id").textContent === "` + id + `").querySelector(".c-st").textContent`
	}
	p.until(status("a-1") + ` === "aborted" && ` + status("a-2") + ` === "aborted" && ` + status("a-12") + ` === "waiting"`)
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
	p.until(`document.querySelector(".pre").getBoundingClientRect().bottom <= innerHeight && document.querySelector(".drawn").scrollTop === 0`)
	p.shoot("publish")
	p.click("button", "Publish")
	p.until(`location.pathname === "/workflows/order"`)
	p.sees("version 2")
	p.shoot("workflow")
}

const gated = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: pages}, workload: {},
 workflow: [{step: plan, tool: {kind: noop}, next: {arcs: [{step: release}]}},
  {step: release, spec: {policy: {admit: {rules: [{when: "{{ ctx.approved == true }}", then: {allow: true}}, {else: {then: {allow: false}}}]}}}, tool: {kind: noop}}]}`

func TestAPatchOpensTheGateOfAPlaybook(t *testing.T) {
	s := newSite(t, httpapi.Operator, gated)
	s.start("pages", "pages-1", "null")
	p := newTab(t, s.url)
	p.open("/runs/pages-1?step=release")
	p.sees("release")
	p.until(`document.querySelector(".runhead .chip").textContent === "waiting"`)
	p.until(`document.querySelector(".ticker").innerText.includes("1 completed")`) // steps, not their runs
	p.shoot("playbook")
	p.click("button", "Patch…")
	p.until(`document.querySelector("dialog input").value === "approved"`)
	p.click("dialog button", "Write")
	p.until(`document.querySelector(".runhead .chip").textContent === "completed"`)
}

// After a reload, all the channels by which tokens went are shown, not only those of the newest run of a step.
func TestChannelsStayWetAfterAReload(t *testing.T) {
	s := newSite(t, httpapi.Operator, `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: loop}, workflow: [
 {step: look, tool: {kind: noop}, next: {arcs: [{step: done, when: "{{ ctx.seen == true }}"}, {step: fix}]}},
 {step: fix, tool: {kind: noop}, set: {ctx.seen: true}, next: {arcs: [{step: look}]}}, {step: done, tool: {kind: noop}}]}`)
	s.start("loop", "loop-1", "null")
	s.ends("loop-1")
	p := newTab(t, s.url)
	p.open("/runs/loop-1")
	p.until(`document.querySelector(".graph-c").getAttribute("aria-label").includes("tokens went by 3 of 3 channels")`)
	p.shoot("playbook-loop")
}

// shop returns the document of a world.
func shop(t *testing.T) string {
	text, err := os.ReadFile("../../../examples/shop/shop.yaml")
	require.NoError(t, err)
	return string(text)
}

func TestAWorldShowsItsCells(t *testing.T) {
	s := newSite(t, httpapi.Operator, shop(t))
	s.start("shop", "shop-1", "null")
	s.post("/v1/runs/shop-1/messages", `{"name": "OrderPlaced", "payload": {"order_id": "5521", "item": "pump", "cents": 1248}}`)
	p := newTab(t, s.url)
	p.open("/runs/shop-1")
	p.click("a.id", "order")
	p.sees("paying")
	p.sees("What happened")
	p.until(`document.querySelector(".panel .chain code") && document.querySelector(".panel .chain .ev")`)
	require.Zero(t, eval[int](p, `[...document.querySelectorAll(".panel .chain .ev")].filter((e) => e.getBoundingClientRect().right > document.querySelector(".panel").getBoundingClientRect().right).length`),
		"links to events beyond the edge of the panel")
	p.shoot("cells")
}

func TestTheTimelineHasABarForEachAttempt(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	s.send("order-1", "priced")
	s.ends("order-1") // it is taken, and done later
	s.post("/v1/runs/order-1/steps/charge/retry", "{}")
	p := newTab(t, s.url)
	p.open("/runs/order-1?tab=timeline")
	p.until(`document.querySelectorAll(".tl .bad-bar").length === 2 && document.querySelectorAll(".time-n li").length === 4`)
	p.shoot("timeline")
}

// The text that a program writes is seen while it runs.
func TestTheLogIsLive(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	require.NoError(t, syscall.Mkfifo(gate, 0o600))
	s := newSite(t, httpapi.Operator, `{kind: Workflow, name: say, operations: {say: {command: {shell: "echo '<b>begun</b>'; read x < `+gate+`; echo ended >&2"}}}, steps: [{operation: say}]}`)
	s.start("say", "say-1", "null")
	p := newTab(t, s.url)
	p.open("/runs/say-1?tab=log")
	p.sees("<b>begun</b>")
	require.NoError(t, os.WriteFile(gate, []byte("go\n"), 0))
	p.until(`document.querySelector(".log .err")?.textContent.includes("ended")`)
	p.until(`document.querySelector(".runhead .chip").textContent === "completed"`)
	p.shoot("log")
}

// fits requires that nothing of the page is beyond its edge at a width.
func (p *tab) fits(width int64) {
	p.t.Helper()
	p.width(width)
	p.until(`innerWidth === ` + fmt.Sprint(width))
	require.LessOrEqual(p.t, eval[int64](p, `document.documentElement.scrollWidth`), width, "%s", eval[string](p, `location.href`))
}

// Names, labels and values are shown as text, whatever they contain, and break no layout.
func TestHostileContentIsText(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	evil := `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>` + "\u202etxt.exe"
	labels := map[string]string{}
	for i := range 60 {
		labels[fmt.Sprint("label-", i)] = strings.Repeat("x", 100)
	}
	labels[evil[:60]] = evil
	body, err := json.Marshal(map[string]any{
		"workflow": "order", "id": strings.Repeat("long", 30), "labels": labels, "input": map[string]any{"lines": []string{evil, strings.Repeat("1 MiB in a line ", 20_000)}},
	})
	require.NoError(t, err)
	s.post("/v1/runs", string(body))
	p := newTab(t, s.url)
	wide := func() {
		t.Helper()
		p.fits(390)
		p.fits(1280)
	}
	p.open("/runs")
	p.sees("for the message priced")
	wide()
	p.open("/runs/" + strings.Repeat("long", 30) + "?tab=output")
	p.sees("onerror=")
	p.click("button", "Load all of it")
	p.until(`document.querySelector(".tree .link")`)
	wide()
	require.Empty(t, eval[[]string](p, `[...document.querySelectorAll("#page img, #page script")].map((e) => e.outerHTML)`))
	require.NotContains(t, eval[string](p, `document.title`), "broken")
	p.shoot("hostile")
}

// Eight tabs share the stream that one of them reads; when that tab leaves, another one takes over.
func TestTabsShareAStream(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	var tabs []*tab
	for range 8 {
		p := newTab(t, s.url)
		p.open("/runs")
		p.sees("order-1")
		tabs = append(tabs, p)
	}
	tabs[0].do(chromedp.Navigate("about:blank"))
	s.start("order", "order-2", `{"lines": []}`)
	for _, p := range tabs[1:] {
		p.sees("1 newer run")
	}
}

// When the server has gone, the page shows since when, and its buttons are off; when it is back, the page equals a fresh one.
func TestAPageIsStaleWhileTheServerDoesNotAnswer(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	var down atomic.Bool
	var gone atomic.Pointer[chan struct{}] // closed when the connections that are open are cut
	cutting := func() chan struct{} {
		cut := make(chan struct{})
		gone.Store(&cut)
		return cut
	}
	cut := cutting()
	target, err := url.Parse(s.url)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.ErrorLog = stdlog.New(io.Discard, "", 0)
	front := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		ctx, cancel := context.WithCancel(req.Context())
		defer cancel()
		cut := *gone.Load()
		go func() {
			select {
			case <-cut:
				cancel()
			case <-ctx.Done():
			}
		}()
		req.Host = target.Host
		proxy.ServeHTTP(w, req.WithContext(ctx))
	}))
	p := newTab(t, front)
	p.allow("ERR_")
	p.open("/runs/order-1")
	p.sees("price waits for message")
	p.until(`document.querySelector(".live").textContent.includes("live") && document.querySelector(".graph-c")`)
	p.click("button", "Cancel…")
	p.until(`!document.querySelector("dialog footer .btn.pri").disabled`)
	down.Store(true)
	close(cut)
	p.sees("Nothing is sent before it is back")
	p.until(`document.querySelector("dialog footer .btn.pri").disabled`)
	p.shoot("stale-dialog")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.sees("Stale since")
	p.until(`[...document.querySelectorAll(".runhead .btn")].every((b) => b.disabled && b.title === "The server does not answer")`)
	p.shoot("stale")
	s.send("order-1", "priced")
	cutting()
	down.Store(false)
	p.sees("charge failed (http_503)")
	p.until(`!document.querySelector(".stale")`)
}
