package page_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/heapprofiler"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// large returns a workflow of so many layers of so many steps. The layer in the middle waits for a message.
func large(name string, layers, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{kind: Workflow, name: %s, operations: {ask: {wait: {message: priced}}, quick: {value: {ok: true}}}, steps: [", name)
	for layer := range layers {
		b.WriteString("{parallel: {steps: [")
		for i := range width {
			operation := "quick"
			if layer == layers/2 && i == width/2 {
				operation = "ask"
			}
			fmt.Fprintf(&b, "{operation: %s, id: s-%d-%d},", operation, layer, i)
		}
		b.WriteString("]}},")
	}
	return b.String() + "]}"
}

// painted notes in a new document when the graph has been painted.
const painted = `new MutationObserver((_, o) => { if (document.querySelector(".graph-c")) { o.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); })); } }).observe(document, { subtree: true, childList: true })`

// panned moves the graph at each frame for a while, with so many changes of statuses a second, and returns how long frames took, in ms.
const panned = `new Promise((done) => {
  const c = document.querySelector(".graph-c"), channel = new BroadcastChannel("sluice-feed"), times = [];
  let n = window.changes || 0, last = performance.now(), end = last + 4000;
  const timer = setInterval(() => {
    if (!CHANGES) return;
    const steps = Array.from({ length: CHANGES / 50 }, () => { n++; return { step: "s-" + (n * 7 % 100) + "-" + (n * 13 % 100), status: ["running", "completed", "waiting"][n % 3] }; });
    channel.postMessage({ kind: "frame", key: "run:large-1", frame: { kind: "update", data: { run: "large-1", seq: 1e6 + n, status: "running", steps } } });
  }, 20);
  const frame = (now) => {
    times.push(now - last);
    last = now;
    if (now > end) {
      clearInterval(timer);
      window.changes = n;
      times.sort((a, b) => a - b);
      return done([times[times.length >> 1], times[Math.floor(times.length * 0.95)], times.at(-1)]);
    }
    c.dispatchEvent(new WheelEvent("wheel", { deltaY: 24, deltaX: times.length % 200 < 100 ? 30 : -30 }));
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`

func awaiting(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// spent returns the time that the tab was busy with each kind of work, in seconds.
func (p *tab) spent() map[string]float64 {
	p.t.Helper()
	out := map[string]float64{}
	p.do(performance.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		all, err := performance.GetMetrics().Do(ctx)
		for _, m := range all {
			if name, ok := strings.CutSuffix(m.Name, "Duration"); ok {
				out[name] = m.Value
			}
		}
		return err
	}))
	return out
}

// Figures about a run of 10,000 steps. They are for people, since they depend on the machine and its load.
func TestALargeRun(t *testing.T) {
	if os.Getenv("SLUICE_EXHAUSTIVE") == "" && os.Getenv("SLUICE_SCREENS") == "" {
		t.Skip("it measures for half a minute; SLUICE_EXHAUSTIVE=1 runs it")
	}
	s := newSite(t, httpapi.Operator, large("small", 6, 5), large("medium", 40, 25), large("large", 100, 100))
	for _, name := range []string{"small", "medium", "large"} {
		s.start(name, name+"-1", "null")
	}
	p := newTab(t, s.url)
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(painted).Do(ctx)
		return err
	}))
	for _, visit := range []string{"cold", "warm"} {
		p.open("/runs/large-1")
		p.until(`window.painted`)
		t.Logf("10,000 steps, %s: first picture after %.0f ms", visit, eval[float64](p, `window.painted`))
	}
	p.sees("5,099 completed")
	p.do(chromedp.Click(`[aria-label="Full size"]`))
	for _, changes := range []string{"0", "1000"} {
		before := p.spent()
		var frames []float64
		p.do(chromedp.Evaluate(strings.ReplaceAll(panned, "CHANGES", changes), &frames, awaiting))
		t.Logf("pan at reading zoom with %s changes/s: a frame takes %.1f ms at p50, %.1f at p95, %.1f at most", changes, frames[0], frames[1], frames[2])
		for name, s := range p.spent() {
			t.Logf("  %s: %.2f s of 4", name, s-before[name])
		}
	}
	heap := func() float64 {
		p.do(heapprofiler.CollectGarbage())
		return eval[float64](p, `performance.memory.usedJSHeapSize / 1e6`)
	}
	before := heap()
	const many = `(async () => {
	  const channel = new BroadcastChannel("sluice-feed");
	  for (let i = 0; i < 3600; i++) {
	    const steps = Array.from({ length: 50 }, (_, k) => ({ step: "s-" + (i % 100) + "-" + (2 * k + i % 2), status: ["running", "completed"][i % 2] }));
	    channel.postMessage({ kind: "frame", key: "run:large-1", frame: { kind: "update", data: { run: "large-1", seq: 2e6 + i, status: "running", steps } } });
	    if (i % 50 === 0) await new Promise((next) => setTimeout(next));
	  }
	  await new Promise((next) => setTimeout(next, 500));
	})()`
	p.do(chromedp.Evaluate(many, nil, awaiting))
	after := heap()
	t.Logf("memory of the tab: %.1f MB, and %.1f MB after 3,600 frames with 180,000 changes", before, after)
	require.Less(t, after, before+20, "the tab grows")
	for _, name := range []string{"small", "medium", "large"} {
		p.open("/runs/" + name + "-1")
		p.until(`window.painted`)
		p.shoot("graph-" + name)
		p.click("button", "Fit")
		p.shoot("graph-" + name + "-fit")
	}
}
