package page_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// listed notes in a new document when the first rows of the list of runs have been painted.
const listed = `new MutationObserver((_, o) => { if (document.querySelector("main tbody tr a")) { o.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.listed = performance.now(); })); } }).observe(document, { subtree: true, childList: true })`

// relisted shows another query as a link does, and notes when its first rows have been painted.
const relisted = `(q) => { window.listed = 0; const began = performance.now(), link = document.createElement("a");
  new MutationObserver((_, o) => { if (document.querySelector("main tbody tr a")) { o.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.listed = performance.now() - began; })); } }).observe(document.querySelector("main"), { subtree: true, childList: true });
  link.href = "/?q=" + encodeURIComponent(q); document.body.append(link); link.click(); link.remove(); }`

// How long the first rows of a list of 1,000,000 runs take, of a page that is opened with a query, and of another query in it, in figures for people. SLUICE_LARGE runs it, since to make the runs takes a
// minute or more.
func TestALargeList(t *testing.T) {
	if os.Getenv("SLUICE_LARGE") == "" {
		t.Skip("set SLUICE_LARGE")
	}
	startBrowser(t)
	quiet := slog.New(slog.DiscardHandler)
	store, err := disk.Open(t.TempDir(), disk.Config{Logger: quiet})
	require.NoError(t, err)
	journaltest.Many(t, store, 1_000_000, 10_000)
	engine, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: quiet})
	require.NoError(t, err)
	handler, err := httpapi.Handler(engine, httpapi.Config{Hosts: []string{"127.0.0.1"}, Open: httpapi.Identity{Name: "ann", Role: httpapi.Operator}, Logger: quiet})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		require.NoError(t, engine.Shutdown(context.Background()))
		server.Close()
	})
	p := newTab(t, server.URL)
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(listed).Do(ctx)
		return err
	}))
	for range 3 {
		for _, q := range []string{"status:failed", "label.team:7", "waits:person", `workflow:"workflow 3"`, ""} {
			p.open("/?q=" + q)
			p.until(`window.listed`)
			t.Logf("%q: first rows after %.0f ms", q, eval[float64](p, `window.listed`))
			const other = "status:completed"
			eval[any](p, fmt.Sprintf(`(%s)(%q)`, relisted, other))
			p.until(`window.listed`)
			t.Logf("%q: first rows after %.0f ms in the open page", other, eval[float64](p, `window.listed`))
		}
	}
	p.shoot("list-large")
}
