package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// Each worker is listed with the operations that it serves, and so are the unserved operations: on a narrow page, too.
func TestWorkersAndWhatNobodyServesAreListed(t *testing.T) {
	s := newSite(t, httpapi.Operator, freight, `{kind: Workflow, name: work, steps: [{id: pay, operation: charge-the-card}]}`)
	w := s.worker()
	s.start("freight", "freight-1", "null")
	w.take("opine", "atlas", "bureau", "credo", "delta")
	s.start("work", "work-1", "null")
	p := newTab(t, s.url)
	p.open("/workers")
	p.sees("no worker since")
	p.shoot("workers")
	p.fits(390)
	for _, text := range []string{"hand", "opine", "4 calls", "charge-the-card", "1 waiting"} {
		p.sees(text)
	}
	const shown = `[...document.querySelectorAll(".list.plain tbody tr")].every((r) => r.children[0].getBoundingClientRect().top < r.children[2].getBoundingClientRect().top && r.scrollWidth <= r.clientWidth)`
	require.True(t, eval[bool](p, shown), "the second line has how many")
}
