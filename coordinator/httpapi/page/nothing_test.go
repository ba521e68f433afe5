package page_test

import (
	"testing"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// The page of an unknown run says so, without a refused request, and shows the run as soon as it begins.
func TestARunThatIsNotThereIsSeenWhenItBegins(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	p := newTab(t, s.url)
	p.open("/runs/order,1")
	p.sees("There is no run order,1.")
	p.shoot("no-run")
	s.start("order", "order,1", `{"lines": []}`)
	p.sees("price waits for message")
	s.send("order,1", "priced")
	p.sees("charge failed (http_503)")
}

// The page of an unknown address says so, and has a way on.
func TestAnAddressOfNothingSaysSo(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.allow("404 (Not Found)")
	for _, path := range []string{"/nonsense", "/constructor", "/runs/order-1/steps", "/workers/x", "/start", "//runs", "/runs/"} {
		p.open(path)
		p.sees("There is nothing here")
		p.until(`document.title === "Nothing here · Sluice"`)
	}
	p.shoot("nothing")
	p.click("main a", "All runs")
	p.sees("order-1")
}
