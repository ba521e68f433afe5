package page_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
)

// locked returns the URL of a server that asks who somebody is, and a function that starts it again, so that it knows no session any more.
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

// Who opens the page, and is asked who they are, is not refused anything: the console of the browser stays empty.
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

// A host that is started again knows no session any more. A page says so at once, and is back at what it showed when the person has
// signed in, and so are the other tabs.
func TestAPageSaysThatItsSessionHasEnded(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	url, restart := s.locked()
	var tabs []*tab
	for range 2 {
		p := newTab(t, url)
		p.allow("ERR_")
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
