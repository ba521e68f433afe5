package page_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// history is a workflow of few nodes and when they ran: a node without a time is passed through.
type history struct {
	From   []int           `json:"from"`
	To     []int           `json:"to"` // 0: it has no time
	Before map[int][]int   `json:"before"`
	after  map[[2]int]bool // one has ended before the other began, and leads to it
}

func randomHistory(r *rand.Rand) *history {
	n := 3 + r.IntN(7)
	h := &history{From: make([]int, n), To: make([]int, n), Before: map[int][]int{}, after: map[[2]int]bool{}}
	order := r.Perm(n)
	if r.IntN(2) == 0 {
		slices.Sort(order) // as steps that wait for those before them end
	}
	for i, end := range order {
		if r.IntN(4) > 0 {
			h.To[i] = 2*end + 2
			h.From[i] = h.To[i] - 1 - r.IntN(4)
		}
		for k := range i {
			if r.IntN(5) < 2 {
				h.Before[i] = append(h.Before[i], k)
			}
		}
	}
	for to := range n {
		for from := range to {
			h.after[[2]int{from, to}] = h.To[from] > 0 && h.To[to] > 0 && h.To[from] <= h.From[to] && h.leads(from, to)
		}
	}
	return h
}

// leads reports whether a way leads from a node to another one on which no node has a time.
func (h *history) leads(from, to int) bool {
	for _, b := range h.Before[to] {
		if b == from || h.To[b] == 0 && h.leads(from, b) {
			return true
		}
	}
	return false
}

// chains returns all chains that end with a node and can begin no earlier, the last node first.
func (h *history) chains(last int) (all [][]int) {
	for from := range last {
		if h.after[[2]int{from, last}] {
			for _, c := range h.chains(from) {
				all = append(all, append([]int{last}, c...))
			}
		}
	}
	if all == nil {
		return [][]int{{last}}
	}
	return all
}

// critical returns the chain, of all there are, whose ends are the latest from the back.
func (h *history) critical() []string {
	last := slices.Index(h.To, slices.Max(h.To))
	if h.To[last] == 0 {
		return []string{}
	}
	ends := func(chain []int) (out []int) {
		for _, i := range chain {
			out = append(out, h.To[i])
		}
		return out
	}
	best := slices.MaxFunc(h.chains(last), func(a, b []int) int { return slices.Compare(ends(a), ends(b)) })
	out := []string{}
	for _, i := range slices.Backward(best) {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

// The critical path is the one that a search through all chains finds.
func TestTheCriticalPathIsTheBestOfAllChains(t *testing.T) {
	source, err := os.ReadFile("files/critical.js")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]*history, 500)
	for i := range all {
		all[i] = randomHistory(r)
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	p := newTab(t, "")
	p.do(chromedp.Evaluate(strings.ReplaceAll(string(source), "export ", "")+";0", nil))
	found := eval[[][]string](p, string(text)+`.map((h) => criticalPath(h.to.flatMap((to, i) => to ? [{ step: String(i), from: h.from[i], to }] : []), (i) => h.before[i] || [], Number))`)
	require.Len(t, found, len(all))
	long := 0
	for i, h := range all {
		require.Equal(t, h.critical(), found[i], "%+v", h)
		if len(found[i]) > 2 {
			long++
		}
	}
	require.Greater(t, long, 50, "histories with a chain of three")
}

// A part of the time is chosen by dragging or by keys, is in the address, and can be left again.
func TestAPartOfTheTimelineIsShownAlone(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	s.send("order-1", "priced")
	p := newTab(t, s.url)
	p.open("/runs/order-1?tab=timeline")
	p.until(`document.querySelectorAll(".tl .crit").length === 3`)
	require.Regexp(t, "on the critical path: receive, (price|load), charge:", // price, unless both have ended in one millisecond
		eval[string](p, `document.querySelector(".tl").getAttribute("aria-label")`))
	p.shoot("timeline-critical")
	drag := `{ const e = document.querySelector(".tl-range"), b = e.getBoundingClientRect(), at = (x) => ({ clientX: b.left + b.width * x, clientY: b.top + 40, button: 0, pointerId: 1, bubbles: true });
	  e.setPointerCapture = () => {}; e.dispatchEvent(new PointerEvent("pointerdown", at(0.25))); e.dispatchEvent(new PointerEvent("pointermove", at(0.5))); }`
	p.do(chromedp.Evaluate(drag, nil))
	p.until(`document.querySelector(".tl-range i")`)
	p.do(chromedp.Evaluate(strings.Replace(drag, `"pointerdown", at(0.25)`, `"pointerup", at(0.5)`, 1), nil))
	p.until(`/[?&]range=\d+-\d+/.test(location.search)`)
	p.sees("Show all")
	p.click("button", "Show all")
	p.until(`!location.search.includes("range")`)

	press := func(key string, shift bool) {
		p.do(chromedp.Evaluate(`document.querySelector(".tl-range").dispatchEvent(new KeyboardEvent("keydown", {key: `+quoted(key)+`, shiftKey: `+strconv.FormatBool(shift)+`, bubbles: true}))`, nil))
	}
	p.do(chromedp.Focus(".tl-range"))
	press("ArrowRight", false)
	p.until(`document.querySelector(".tl-range i")`)
	press("ArrowRight", true)
	press("Enter", false)
	p.until(`/[?&]range=\d+-\d+/.test(location.search)`)
	p.shoot("timeline-range")
	press("Escape", false)
	p.until(`!location.search.includes("range")`)
}
