package page_test

import (
	"testing"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// A person who opens an address at which nothing is reads that, and has a way on.
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
