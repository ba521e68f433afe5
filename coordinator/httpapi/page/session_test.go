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

// A host that is started again knows no session any more. A page says so at once, and is back at what it showed when the person has
// signed in, and so are the other tabs.
func TestAPageSaysThatItsSessionHasEnded(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	var host atomic.Pointer[httpapi.Server]
	restart := func() {
		handler, err := httpapi.Handler(s.engine, httpapi.Config{Logger: slog.New(slog.DiscardHandler), Authenticate: func(token string) (httpapi.Identity, bool) {
			switch token {
			case "person":
				return httpapi.Identity{Name: "ann", Role: httpapi.Operator}, true
			case "program":
				return httpapi.Identity{Name: "w", Role: httpapi.Worker}, true
			}
			return httpapi.Identity{}, false
		}})
		require.NoError(t, err)
		host.Store(handler)
	}
	restart()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { host.Load().ServeHTTP(w, req) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var tabs []*tab
	for range 2 {
		p := newTab(t, server.URL)
		p.allow("Failed to load resource")
		p.allow("ERR_")
		tabs = append(tabs, p)
	}
	p, other := tabs[0], tabs[1]
	p.open("/runs/order-1?tab=steps")
	p.write(`[type="password"]`, "program")
	p.click("button", "Sign in")
	p.sees("This token cannot use the page")
	p.shoot("not-for-programs")
	p.click("button", "Sign out")
	p.sees("Who are you?")
	p.write(`[type="password"]`, "person")
	p.click("button", "Sign in")
	p.sees("price waits for message")
	other.open("/runs")
	other.sees("order-1")
	for _, p := range tabs {
		p.until(`document.querySelector(".live")?.textContent.includes("live")`)
	}

	restart()
	server.CloseClientConnections()
	for _, p := range tabs {
		p.sees("The session has ended")
		require.False(t, eval[bool](p, `Boolean(document.querySelector(".stale, .live"))`))
	}
	p.shoot("session-ended")
	require.Equal(t, "/runs/order-1?tab=steps", eval[string](p, `location.pathname + location.search`))
	p.write(`[type="password"]`, "person")
	p.click("button", "Sign in")
	p.sees("price waits for message")
	other.sees("order-1")
	s.send("order-1", "priced")
	p.sees("charge failed (http_503)")
	other.sees("http_503")
}
