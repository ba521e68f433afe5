package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// patience bounds a test's wait for the browser: much more than the browser ever takes.
const patience = time.Minute

var browser struct {
	once sync.Once
	ctx  context.Context
	end  []context.CancelFunc
	why  string // the reason why there is none
}

// quiet drops the library's messages about events that it does not know.
var quiet = chromedp.WithErrorf(func(string, ...any) {})

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverDir); dir != "" {
		fmt.Fprintln(os.Stderr, serveFolder(dir, os.Getenv(serverAddress)))
		os.Exit(1)
	}
	code := m.Run()
	for _, end := range browser.end {
		end()
	}
	os.Exit(code)
}

// startBrowser starts the browser that all tests share. Without one a test is skipped, or fails if SLUICE_BROWSER is "required".
func startBrowser(t *testing.T) context.Context {
	browser.once.Do(func() {
		program := ""
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
			if found, err := exec.LookPath(name); err == nil && program == "" {
				program = found
			}
		}
		if program == "" {
			browser.why = "there is no Chromium on the path"
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WSURLReadTimeout(patience))
		if os.Getuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
		browser.end = append(browser.end, end)
		ctx, end = chromedp.NewContext(ctx, quiet)
		browser.ctx, browser.end = ctx, append([]context.CancelFunc{end}, browser.end...)
		if err := chromedp.Run(ctx); err != nil {
			browser.why = "Chromium does not start: " + err.Error()
		}
	})
	if browser.why != "" {
		if os.Getenv("SLUICE_BROWSER") == "required" {
			t.Fatal(browser.why)
		}
		t.Skip(browser.why)
	}
	return browser.ctx
}

// tab is a page in the browser. Each message of its console fails the test, and so does each report of its security policy.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string // of the server

	mu      sync.Mutex
	allowed []string // parts of messages that are expected
	said    []string
}

// raced are the tests that short ones run, as under the race detector: of pages that are followed while much happens. The pages of the
// others make single requests.
var raced = map[string]bool{
	"TestAPageOutlivesAServerThatIsKilled": true, "TestTheListIsLiveAndItsCountsAreFilters": true, "TestWhatIsTypedStaysWhileRunsChange": true,
	"TestManyRunsAreCancelledAfterTheyWereCounted": true, "TestTheLogIsLive": true, "TestTabsShareAStream": true,
}

func newTab(t *testing.T, url string) *tab {
	if name, _, _ := strings.Cut(t.Name(), "/"); testing.Short() && !raced[name] {
		t.Skip("short tests run some in the browser")
	}
	ctx, end := chromedp.NewContext(startBrowser(t))
	p := &tab{t: t, ctx: ctx, url: url}
	chromedp.ListenTarget(ctx, p.hear)
	t.Cleanup(func() {
		end()
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.said, "the console of the browser")
	})
	p.width(1280)
	return p
}

func (p *tab) hear(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			text += string(a.Value) + " "
		}
		text = "console: " + text
	case *runtime.EventExceptionThrown:
		text = "exception: " + e.ExceptionDetails.Error()
	case *log.EventEntryAdded:
		text = "log: " + e.Entry.Text + " " + e.Entry.URL
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range p.allowed {
		if strings.Contains(text, part) {
			return
		}
	}
	p.said = append(p.said, text)
}

// allow expects messages with a text.
func (p *tab) allow(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, part)
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Run(p.ctx, actions...))
}

func (p *tab) open(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.url + path))
}

// eval returns the value of an expression of JavaScript.
func eval[T any](p *tab, js string) (v T) {
	p.t.Helper()
	p.do(chromedp.Evaluate(js, &v))
	return v
}

// until waits until a condition in JavaScript holds. It checks the condition after each change of the document.
func (p *tab) until(condition string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	js := `new Promise((done) => {
	  const see = () => { let ok = false; try { ok = Boolean(` + condition + `); } catch {} if (ok) { watch.disconnect(); clearInterval(often); done(true); } };
	  const watch = new MutationObserver(see), often = setInterval(see, 50); // the values of fields are no part of the document
	  watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	  see();
	})`
	awaiting := func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }
	err := chromedp.Run(ctx, chromedp.Evaluate(js, nil, awaiting))
	for err != nil && ctx.Err() == nil { // the document was left for another one
		err = chromedp.Run(ctx, chromedp.WaitReady("body"), chromedp.Evaluate(js, nil, awaiting))
	}
	if err != nil {
		text := eval[string](p, `document.body.innerText`)
		p.t.Fatalf("%s: it never was: %v\n%s", condition, err, text)
	}
}

// sees waits until the text is on the page.
func (p *tab) sees(text string) {
	p.t.Helper()
	p.until(`document.body.innerText.includes(` + quoted(text) + `)`)
}

// click clicks the first visible element that matches a selector and contains a text, as soon as it is enabled.
func (p *tab) click(selector, text string) {
	p.t.Helper()
	p.act(fmt.Sprintf(`[...document.querySelectorAll(%s)].find((e) => e.textContent.includes(%s) && !e.disabled && e.getClientRects().length && (!document.querySelector("dialog[open]") || e.closest("dialog")))`, quoted(selector), quoted(text)),
		`e.click()`)
}

// act waits until an element is there, and does something to it at once: between two calls the page may take it away.
func (p *tab) act(find, what string) {
	p.t.Helper()
	for done := false; !done; {
		p.until(find)
		done = eval[bool](p, `(() => { const e = `+find+`; if (e) { `+what+`; } return Boolean(e); })()`)
	}
}

// write writes a text into a field, in place of the text in it.
func (p *tab) write(selector, text string) {
	p.t.Helper()
	p.act(`document.querySelector(`+quoted(selector)+`)`, `e.focus(); e.select?.()`)
	p.do(chromedp.KeyEvent(text))
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // of a text
	return string(b)
}

// site is a server with an engine. All its clients have one identity.
type site struct {
	t      *testing.T
	engine *coordinator.Engine
	url    string
}

func newSite(t *testing.T, role httpapi.Role, documents ...string) *site {
	startBrowser(t)
	engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Workers: workers.NewKey()})
	require.NoError(t, err)
	handler, err := httpapi.Handler(engine, httpapi.Config{
		Hosts: []string{"127.0.0.1"}, Open: httpapi.Identity{Name: "ann", Role: role}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		require.NoError(t, engine.Shutdown(context.Background()))
		server.Close()
	})
	s := &site{t, engine, server.URL}
	for _, text := range documents {
		s.publish(text)
	}
	return s
}

func (s *site) publish(text string) {
	s.t.Helper()
	checked, err := kinds.Load("document.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(s.t, err)
	p, err := parcel.Of(s.t.Context(), s.engine, checked.Workflow)
	require.NoError(s.t, err)
	_, _, err = parcel.Publish(s.t.Context(), s.engine, p, "ann")
	require.NoError(s.t, err)
}

// post makes a request as another client, and returns the answer.
func (s *site) post(path, body string) map[string]any {
	s.t.Helper()
	resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	require.NoError(s.t, err)
	defer resp.Body.Close()
	answer := map[string]any{}
	require.NoError(s.t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Less(s.t, resp.StatusCode, 300, answer)
	return answer
}

// get returns the answer of a resource.
func (s *site) get(path string) map[string]any {
	s.t.Helper()
	resp, err := http.Get(s.url + path)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	require.Equal(s.t, http.StatusOK, resp.StatusCode)
	answer := map[string]any{}
	require.NoError(s.t, json.NewDecoder(resp.Body).Decode(&answer))
	return answer
}

func (s *site) start(workflow, id, input string) {
	s.t.Helper()
	s.post("/v1/runs", fmt.Sprintf(`{"workflow": %q, "id": %q, "input": %s, "labels": {"team": "payments"}}`, workflow, id, input))
}

func (s *site) send(run, message string) {
	s.t.Helper()
	s.post("/v1/runs/"+run+"/messages", fmt.Sprintf(`{"name": %q}`, message))
}

// ends waits until a run has finished.
func (s *site) ends(run string) {
	s.t.Helper()
	r, err := s.engine.Run(s.t.Context(), run)
	require.NoError(s.t, err)
	_, err = r.Wait(s.t.Context())
	require.NoError(s.t, err)
}

// width sets how wide the tab is.
func (p *tab) width(of int64) {
	p.t.Helper()
	p.do(emulation.SetDeviceMetricsOverride(of, 800, 1, false))
}

// shoot writes a picture of the tab if SLUICE_SCREENS names a folder.
func (p *tab) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("SLUICE_SCREENS")
	if dir == "" {
		return
	}
	for _, theme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
			var picture []byte
			p.do(
				cdppage.BringToFront(), // a tab behind another one is not drawn
				emulation.SetDeviceMetricsOverride(size[0], size[1], 1, false),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
				chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))`, nil,
					func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }),
				chromedp.CaptureScreenshot(&picture),
			)
			require.NoError(p.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, size[0], theme)), picture, 0o644))
		}
	}
	p.width(1280)
}

// serve returns the URL of a server with a handler.
func serve(t *testing.T, handler http.Handler) string {
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}
