package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

const asking = `{kind: Workflow, name: asking, input: {type: object, title: An order, description: What somebody buys., required: [kind, pieces], properties: {
  kind: {title: Kind of order, description: Decides who approves it., enum: [small, large]}, pieces: {type: integer, minimum: 1, default: 3},
  note: {type: string, description: For the driver., examples: [ring twice]}, pin: {type: string, format: password}, rows: {type: array}}},
 operations: {quick: {value: 1}}, steps: [{operation: quick}]}`

// A typed text is there again when its author comes back by the history, loads the page anew, or signs in again after the session has ended.
// It is gone when it was sent, when it was dropped, and when its author signs out; no other person sees it.
func TestWhatIsTypedIsThereAgain(t *testing.T) {
	s := newSite(t, httpapi.Author, asking)
	url, restart := s.locked()
	p := newTab(t, url)
	p.allow("ERR_")
	p.open("/publish")
	p.signIn("writer")
	p.sees("can be published")
	const text, pin, kept = "kind: Workflow # mine", "4711-canary", `JSON.stringify(sessionStorage)`
	has := func(field, value string) string {
		return `document.querySelector(` + quoted(field) + `).value === ` + quoted(value)
	}
	p.write("textarea", text)
	p.sees("2 errors")
	p.click(".nav a", "Workflows")
	p.sees("asking")
	p.do(chromedp.NavigateBack())
	p.until(has("textarea", text))
	p.sees("What you have written before is here again")
	p.open("/start/asking")
	p.write("#f-note", "ring")
	p.write("#f-pin", pin)
	p.write("#run-id", "asking-1")
	p.open("/publish")
	p.until(has("textarea", text))
	p.sees("2 errors")
	p.settles(1)

	restart()
	p.sees("The session has ended")
	p.signIn("another")
	p.sees("bob · author")
	p.sees("can be published")
	require.NotContains(t, eval[string](p, `document.querySelector("textarea").value`), "mine")
	p.settles(2)
	restart()
	p.sees("The session has ended")
	p.signIn("writer")
	p.until(has("textarea", text))
	p.sees("What you have written before is here again")
	p.shoot("publish-again")
	p.click("button", "Drop it")
	p.sees("can be published")
	require.NotContains(t, eval[string](p, kept), "mine")

	p.open("/start/asking")
	p.until(has("#f-note", "ring") + " && " + has("#f-pin", "") + " && " + has("#run-id", "asking-1"))
	p.sees("Still needed: Kind of order")
	s.publish(strings.Replace(asking, "note: {type: string,", "more: {type: string, default: also}, note: {type: string, enum: [ring, knock],", 1))
	p.open("/start/asking")
	p.until(has("#f-more", "also") + " && " + has("#f-note", "") + " && " + has("#run-id", "asking-1"))
	p.do(chromedp.SetValue("#f-kind", `"large"`))
	p.act(`document.querySelector("#f-kind")`, `e.dispatchEvent(new Event("input", { bubbles: true }))`)
	require.Contains(t, eval[string](p, kept), "ring")
	for _, secret := range []string{pin, "writer", "another"} {
		require.NotContains(t, eval[string](p, kept), secret)
	}
	p.click("button", "Start the run")
	p.until(`location.pathname === "/runs/asking-1"`)
	require.NotContains(t, eval[string](p, kept), "ring")

	p.open("/publish")
	p.write("textarea", text)
	p.click("button", "Sign out")
	p.sees("Who are you?")
	require.NotContains(t, eval[string](p, kept), "mine")
}

// The form shows the titles, the descriptions, the required fields, the choices and the defaults of the schema.
func TestTheFormSaysWhatTheSchemaSays(t *testing.T) {
	s := newSite(t, httpapi.Operator, asking)
	p := newTab(t, s.url)
	p.open("/start/asking")
	for _, text := range []string{"An order", "What somebody buys.", "Decides who approves it.", "from 1 to …, at first 3", "For the driver.", "JSON: array", "Still needed: Kind of order"} {
		p.sees(text)
	}
	require.Equal(t, []string{"Kind of order needed kind", "pieces needed"}, eval[[]string](p, `[...document.querySelectorAll(".start label")].map((l) => l.textContent.replace("orderneeded", "order needed").replace("neededkind", "needed kind")).slice(0, 2)`))
	require.Equal(t, []string{"choose", "small", "large"}, eval[[]string](p, `[...document.querySelectorAll("#f-kind option")].map((o) => o.textContent)`))
	require.Equal(t, []any{"3", "ring twice", "password", true, false},
		eval[[]any](p, `[document.querySelector("#f-pieces").value, document.querySelector("#f-note").placeholder, document.querySelector("#f-pin").type, document.querySelector("#f-kind").required, document.querySelector("#f-note").required]`))
	p.write("#f-pieces", "many")
	p.sees("This is no whole number.")
	p.sees("from 1 to …")
	p.write("#f-pieces", "9007199254740993")
	p.sees("This is too large for a form.")
	p.shoot("start-schema")
}
