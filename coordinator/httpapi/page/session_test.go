package page_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// locked returns the URL of a server that requires a login, and a function that restarts it, so that it no longer knows any session.
func (s *site) locked() (at string, restart func()) {
	s.t.Helper()
	known := map[string]httpapi.Identity{
		"person": {Name: "ann", Role: httpapi.Operator}, "writer": {Name: "ann", Role: httpapi.Author}, "another": {Name: "bob", Role: httpapi.Author}, "program": {Name: "w", Role: httpapi.Worker},
	}
	var host atomic.Pointer[httpapi.Server]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { host.Load().ServeHTTP(w, req) }))
	s.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	restart = func() {
		handler, err := httpapi.Handler(s.engine, httpapi.Config{Logger: slog.New(slog.DiscardHandler), Authenticate: func(token string) (httpapi.Identity, bool) {
			who, ok := known[token]
			return who, ok
		}})
		require.NoError(s.t, err)
		host.Store(handler)
		server.CloseClientConnections()
	}
	restart()
	return server.URL, restart
}

// signIn signs in with a token.
func (p *tab) signIn(token string) {
	p.t.Helper()
	p.write(`[type="password"]`, token)
	p.click("button", "Sign in")
}

// settles waits until the document has sent the last request that it sends by itself, so many times: once for each person who has signed in.
// A request while the server forgets the session would be refused.
func (p *tab) settles(times int) {
	p.t.Helper()
	p.until(fmt.Sprintf(`performance.getEntriesByType("resource").filter((e) => e.name.endsWith("waits:person")).length >= %d`, times))
}

// takenEarly notes in a new document which answers to requests of early.js the page takes.
const takenEarly = `{ let early; window.taken = []; Object.defineProperty(window, "early", { get: () => early, set: (asked) => {
  early = new Proxy(asked, { deleteProperty: (all, path) => { if (path in all) taken.push(path); return delete all[path]; } }); } }); }`

// The first rows are asked for before the page is there, once, and the page takes them. Without a session, nothing is asked for that
// would be refused.
func TestTheFirstAnswersComeWithTheScripts(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	url, end := s.locked()
	p := newTab(t, url)
	p.open("/runs")
	p.sees("Who are you?")
	p.signIn("person")
	p.sees("order-1")
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(takenEarly).Do(ctx)
		return err
	}))
	for address, list := range map[string]string{"/runs": "/v1/runs?limit=50", `/?q=workflow:"order"+status:waiting`: "/v1/runs?q=workflow%3A%22order%22+status%3Awaiting&limit=50"} {
		p.open(address)
		p.sees("order-1")
		require.Equal(t, []string{"/v1/session", list}, eval[[]string](p, `taken`))
		require.Empty(t, eval[[]string](p, `Object.keys(early)`), "asked for, and not used")
		require.Equal(t, 1, eval[int](p, `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/v1/session")).length`))
	}
	p.do(chromedp.Navigate("about:blank")) // it asks for nothing meanwhile
	end()
	p.open("/runs")
	p.sees("Who are you?")
	require.Empty(t, eval[[]string](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes("/v1/runs")).map((e) => e.name)`))
}

// Before the login no request is refused: the console of the browser stays empty.
func TestTheDoorIsSilent(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	url, _ := s.locked()
	p := newTab(t, url)
	p.open("/runs")
	p.sees("Who are you?")
	require.Zero(t, eval[int](p, `document.querySelectorAll(".nav a, .bottomnav a").length`), "places to which nobody comes")
	p.shoot("door")
	p.signIn("program")
	p.sees("This token cannot use the page")
	p.click("button", "Sign out")
	p.sees("Who are you?")
	p.signIn("person")
	p.sees("order-1")
}

// A restarted host no longer knows any session. A page says so at once, and is back at the same view when the person has signed in, and
// so are the other tabs.
func TestAPageSaysThatItsSessionHasEnded(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	url, restart := s.locked()
	var tabs []*tab
	for range 2 {
		p := newTab(t, url)
		p.allow("ERR_")
		p.allow("401 (Unauthorized)") // a request that was on its way when the session ended
		tabs = append(tabs, p)
	}
	p, other := tabs[0], tabs[1]
	p.open("/runs/order-1?tab=steps")
	p.signIn("program")
	p.sees("This token cannot use the page")
	p.until(`!document.querySelector(".nav a, .bottomnav a")`) // it may go nowhere
	p.shoot("not-for-programs")
	p.click("button", "Sign out")
	p.sees("Who are you?")
	p.signIn("person")
	p.sees("price waits for message")
	other.open("/runs")
	other.sees("order-1")
	for _, p := range tabs {
		p.until(`document.querySelector(".live")?.textContent.includes("live")`)
		p.settles(1)
	}

	restart()
	for _, p := range tabs {
		p.sees("The session has ended")
		require.False(t, eval[bool](p, `Boolean(document.querySelector(".stale, .live"))`))
	}
	p.shoot("session-ended")
	require.Equal(t, "/runs/order-1?tab=steps", eval[string](p, `location.pathname + location.search`))
	p.signIn("person")
	p.sees("price waits for message")
	other.sees("order-1")
	s.send("order-1", "priced")
	p.sees("charge failed (http_503)")
	other.sees("http_503")
}
