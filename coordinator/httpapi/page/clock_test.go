package page_test

import (
	"context"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// The clock of the browser may be wrong: ages and due times are by the clock of the server.
func TestAgesAreByTheClockOfTheServer(t *testing.T) {
	s := newSite(t, httpapi.Operator, approval)
	s.start("refund", "refund-1", "null")
	for _, wrong := range []string{"+ 5 * 3600_000", "- 50 * 3600_000"} {
		p := newTab(t, s.url)
		p.do(chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := cdppage.AddScriptToEvaluateOnNewDocument(`{ const right = Date.now; Date.now = () => right() ` + wrong + `; }`).Do(ctx)
			return err
		}))
		p.open("/runs")
		p.until(`/^\d+ (s|min)$/.test(document.querySelector(".c-age").textContent)`)
		p.until(`/^for operator: decide contract, 1 h \d+ min left$/.test(document.querySelector(".c-why").textContent)`)
		p.open("/decisions")
		p.until(`/^1 h \d+ min$/.test(document.querySelector(".ask .due").textContent)`)
	}
}
