package page_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// front returns the URL of another server of the site, which passes each request through way. A wait in way ends at the latest with the
// request.
func (s *site) front(way func(w http.ResponseWriter, req *http.Request, next http.Handler)) string {
	s.t.Helper()
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: "ann", Role: httpapi.Operator}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(s.t, err)
	return serve(s.t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { way(w, req, handler) }))
}

// await waits for an event, or until the client has gone.
func await(req *http.Request, event <-chan struct{}) {
	select {
	case <-event:
	case <-req.Context().Done():
	}
}

// late makes the answer, closes asked, and sends no more than the head until an event: with the head, a browser sends an equal second
// request at once.
func late(w http.ResponseWriter, req *http.Request, next http.Handler, asked chan<- struct{}, event <-chan struct{}) {
	old := httptest.NewRecorder()
	next.ServeHTTP(old, req)
	close(asked)
	for name, values := range old.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(old.Code)
	_ = http.NewResponseController(w).Flush()
	await(req, event)
	_, _ = w.Write(old.Body.Bytes()) // the client may have gone
}

// fails lets a run continue to its failure, and waits until lists have it.
func (s *site) fails(run string) {
	s.t.Helper()
	s.send(run, "priced")
	s.ends(run)
	for len(s.get("/v1/runs?q=status:failed+run:" + run)["items"].([]any)) == 0 {
	}
}

// listen notes the frames that documents of the tab receive from now on: kinds and keys, and of runs the statuses.
func (p *tab) listen() {
	p.t.Helper()
	p.begin(`window.heard = []; new BroadcastChannel("sluice-feed").onmessage = ({ data: { key, frame } }) => {
	  if (frame) heard.push(frame.kind + " " + key, ...(frame.data.runs || []).map((c) => c.run + " " + c.head?.status)); }`)
}

// begin runs a script in each new document before those of the page.
func (p *tab) begin(script string) {
	p.t.Helper()
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(`{ ` + script + ` }`).Do(ctx)
		return err
	}))
}

// heard waits until the document has received something.
func (p *tab) heard(what string) {
	p.t.Helper()
	p.until(`heard.includes(` + quoted(what) + `)`)
}

// row is the expression for the text about a run's state in the list.
func row(run string) string {
	return `[...document.querySelectorAll(".list tbody tr")].find((r) => r.querySelector(".id").textContent === ` + quoted(run) + `).querySelector(".c-why").textContent`
}

// A change of a run between the list and the beginning of its feed is in no frame: the list is read again.
func TestARowThatChangesBeforeTheFeedBeginsIsReadAgain(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	begin := make(chan struct{})
	p := newTab(t, s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/v1/feed" {
			await(req, begin)
		}
		next.ServeHTTP(w, req)
	}))
	p.open("/runs")
	p.until(row("order-1") + ` === "for the message priced at price"`)
	s.fails("order-1")
	close(begin)
	p.until(row("order-1") + `.startsWith("http_503, after")`)
}

// The same where another tab reads the feed: this tab asks for the list before it receives any frame.
func TestARowThatChangesBeforeATabListensIsReadAgain(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	come := make(chan struct{})
	var hold, listed atomic.Bool
	asked := make(chan struct{}, 10)
	url := s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if hold.Load() && strings.HasSuffix(req.URL.Path, "/app.js") {
			await(req, come)
		}
		next.ServeHTTP(w, req)
		if req.URL.Path == "/v1/runs" && listed.Load() {
			asked <- struct{}{}
		}
	})
	first, p := newTab(t, url), newTab(t, url)
	first.listen()
	first.open("/workflows")
	first.heard("ready all")
	p.do(network.Enable(), network.SetCacheDisabled(true))
	hold.Store(true)
	listed.Store(true)
	ended := make(chan error, 1)
	go func() { ended <- chromedp.Run(p.ctx, chromedp.Navigate(url+"/runs")) }()
	<-asked
	s.fails("order-1")
	first.heard("order-1 failed")
	close(come)
	require.NoError(t, <-ended)
	p.until(row("order-1") + `.startsWith("http_503, after")`)
}

// The same when a stream is opened anew, such as for the run that another tab shows, and of rows that came later.
func TestRowsOfAllPagesAreReadAgainWhenTheFeedBeginsAnew(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	for i := range 51 {
		s.start("order", fmt.Sprint("order-", i), `{"lines": []}`)
	}
	begin, asked := make(chan struct{}), make(chan struct{}, 100)
	url := s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/v1/feed" && req.URL.Query().Has("run") {
			asked <- struct{}{}
			await(req, begin)
		}
		next.ServeHTTP(w, req)
	})
	p, other := newTab(t, url), newTab(t, url)
	p.open("/runs")
	p.click("button", "Show 50 more")
	p.until(row("order-0") + ` === "for the message priced at price"`)
	other.open("/runs/order-1")
	<-asked
	s.fails("order-0")
	close(begin)
	p.until(row("order-0") + `.startsWith("http_503, after")`)
}

// A frame that comes while a list is on its way is newer than the list.
func TestAFrameThatOvertakesAListCounts(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	come, asked := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	p := newTab(t, s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/v1/runs" && hold.CompareAndSwap(true, false) {
			late(w, req, next, asked, come)
			return
		}
		next.ServeHTTP(w, req)
	}))
	p.listen()
	p.open("/workflows")
	p.sees("Published")
	p.heard("ready all") // before there is a list
	s.start("order", "order-2", `{"lines": []}`)
	p.heard("order-2 waiting")
	hold.Store(true)
	p.click(".nav a", "Runs")
	<-asked
	s.fails("order-1")
	s.start("order", "order-3", `{"lines": []}`)
	p.heard("order-1 failed")
	p.heard("order-3 waiting")
	close(come)
	p.until(row("order-1") + `.startsWith("http_503, after")`)
	p.sees("1 newer run")
}

// Of two readings of a run that are on their way, the one that was asked for later counts, whichever comes first.
func TestAReadingThatIsOvertakenDoesNotCount(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	come, asked := make(chan struct{}), make(chan struct{})
	var reads atomic.Int32
	p := newTab(t, s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/v1/runs/order-1/steps" && reads.Add(1) == 1 {
			late(w, req, next, asked, come)
			return
		}
		next.ServeHTTP(w, req)
	}))
	p.open("/runs/order-1?tab=steps")
	<-asked
	p.sees("price waits for message")
	s.fails("order-1")
	p.sees("charge failed (http_503)")
	const first = `Math.min(...performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/order-1/steps")).map((e) => e.startTime))`
	before := eval[float64](p, first)
	close(come)
	p.until(first + fmt.Sprint(" < ", before))
	p.do(chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil, awaiting))
	require.Contains(t, eval[string](p, `document.body.innerText`), "charge failed (http_503)")
}

// A reading that has failed is done again when the server is back, though nothing has changed since.
func TestWhatCouldNotBeReadIsReadWhenTheServerIsBack(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	cut, failed := make(chan struct{}), make(chan struct{}, 100)
	var down atomic.Bool
	p := newTab(t, s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/v1/feed" {
			ctx, end := context.WithCancel(req.Context())
			defer end()
			if down.CompareAndSwap(true, false) { // it is back
				next.ServeHTTP(w, req)
				return
			}
			go func() {
				await(req, cut)
				end()
			}()
			next.ServeHTTP(w, req.WithContext(ctx))
			return
		}
		if down.Load() && req.URL.Path != "/v1/session" {
			failed <- struct{}{}
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, req)
	}))
	p.allow("ERR_")
	p.listen()
	p.open("/runs/order-1?tab=steps")
	p.sees("price waits for message")
	p.heard("snapshot run:order-1")
	p.heard("ready all")
	down.Store(true)
	s.fails("order-1")
	p.heard("end run:order-1")
	p.heard("order-1 failed")
	<-failed
	close(cut)
	p.sees("charge failed (http_503)")
}

// Earlier events are shown on request, though newer ones are on their way.
func TestEarlierEventsAreShownWhileNewerOnesAreRead(t *testing.T) {
	s := newSite(t, httpapi.Operator, large("many", 10, 10))
	s.start("many", "many-1", "null")
	come, asked := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	p := newTab(t, s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/v1/runs/many-1/events" && hold.CompareAndSwap(true, false) {
			late(w, req, next, asked, come)
			return
		}
		next.ServeHTTP(w, req)
	}))
	p.open("/runs/many-1?tab=events&from=90")
	p.sees("Earlier")
	hold.Store(true)
	s.send("many-1", "priced")
	<-asked
	p.click(".events a", "Earlier")
	p.until(`document.querySelector(".events tbody tr td").textContent === "1"`)
	close(come)
}

// A view whose answer takes longer than the time between changes still shows it, and then asks for a newer one.
func TestWhatTakesLongIsReadToItsEnd(t *testing.T) {
	s := newSite(t, httpapi.Operator, approval)
	s.start("refund", "refund-1", "null")
	come, asked := make(chan struct{}), make(chan struct{})
	var reads atomic.Int32
	p := newTab(t, s.front(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/v1/decisions" && reads.Add(1) == 1 {
			late(w, req, next, asked, come)
			return
		}
		next.ServeHTTP(w, req)
	}))
	p.begin(`const later = setTimeout; window.setTimeout = (f, ms) => later(f, ms === 500 ? 0 : ms)`) // it asks again at once
	p.listen()
	p.open("/decisions")
	<-asked
	p.heard("ready all")
	s.start("refund", "refund-2", "null")
	p.heard("refund-2 waiting")
	p.do(chromedp.Evaluate(`new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done))))`, nil, awaiting))
	p.do(chromedp.Evaluate(`fetch("/v1/session").then(() => 0)`, nil, awaiting))
	require.EqualValues(t, 1, reads.Load(), "while one is on its way")
	close(come)
	p.sees("2 open")
}
