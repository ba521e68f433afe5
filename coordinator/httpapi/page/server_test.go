package page_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// The variables that make this program a server: the folder of its journal, and the address at which it answers.
const serverDir, serverAddress = "SLUICE_TEST_SERVER_DIR", "SLUICE_TEST_SERVER_ADDRESS"

// serveFolder works on a folder until the process is killed. It prints its address when it is ready.
func serveFolder(dir, address string) error {
	store, err := disk.Open(dir, disk.Config{})
	if err != nil {
		return err
	}
	engine, err := coordinator.New(context.Background(), store, coordinator.Config{})
	if err != nil {
		return err
	}
	handler, err := httpapi.Handler(engine, httpapi.Config{Open: httpapi.Identity{Name: "ann", Role: httpapi.Author}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, handler)
}

// child starts this program as a server, and returns it when it answers.
func child(t *testing.T, dir, address string) (process *exec.Cmd, at string) {
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), serverDir+"="+dir, serverAddress+"="+address)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill() // it may have been killed
		_ = process.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return process, strings.TrimSpace(line)
}

// A server that is killed and started again loses nothing, and a page that was open is then as a fresh one.
func TestAPageOutlivesAServerThatIsKilled(t *testing.T) {
	startBrowser(t)
	dir := t.TempDir()
	server, address := child(t, dir, "127.0.0.1:0")
	s := &site{t: t, url: "http://" + address}
	s.post("/v1/workflows", `{"document": `+quoted(order)+`}`)
	s.start("order", "order-1", `{"lines": []}`)
	p := newTab(t, s.url)
	p.allow("ERR_")
	p.open("/runs/order-1?tab=steps")
	p.sees("price waits for message")
	p.until(`document.querySelector(".live").textContent.includes("live")`)
	require.NoError(t, server.Process.Kill())
	_ = server.Wait() // it was killed
	p.sees("Stale since")

	child(t, dir, address)
	p.until(`!document.querySelector(".stale")`)
	p.sees("price waits for message")
	s.send("order-1", "priced")
	p.sees("charge failed (http_503)")
	p.until(`document.querySelector(".runhead .chip").textContent === "failed"`)
	fresh := newTab(t, s.url)
	fresh.open("/runs/order-1?tab=steps")
	fresh.sees("charge failed (http_503)")
	fresh.until(`document.querySelectorAll(".step-row").length === 5`) // the rows come when the size of the room is known
	const steps = `document.querySelector(".steps").innerText`
	p.until(steps + ` === ` + quoted(eval[string](fresh, steps)))
}

// Where a browser has no Web Locks, each tab reads for itself, and says so.
func TestWithoutWebLocksEachTabReadsForItself(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	s.start("order", "order-1", `{"lines": []}`)
	var tabs []*tab
	for range 2 {
		p := newTab(t, s.url)
		p.do(chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := cdppage.AddScriptToEvaluateOnNewDocument(`delete Navigator.prototype.locks`).Do(ctx)
			return err
		}))
		p.open("/runs")
		p.sees("order-1")
		require.False(t, eval[bool](p, `"locks" in navigator`))
		p.until(`document.querySelector(".live").title.startsWith("This tab has a stream of its own")`)
		tabs = append(tabs, p)
	}
	s.start("order", "order-2", `{"lines": []}`)
	for _, p := range tabs {
		p.sees("1 newer run")
	}
}

// Another site cannot show the page in a frame.
func TestThePageInAFrameOfAnotherSiteStaysBlank(t *testing.T) {
	s := newSite(t, httpapi.Operator, order)
	other := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<title>other</title><link rel="icon" href="data:,"><iframe src="%s/runs" onload="document.title = 'loaded'"></iframe>`, s.url)
	}))
	p := newTab(t, other)
	p.allow("frame-ancestors")
	p.open("/")
	p.until(`document.title === "loaded"`)
	var tree *cdppage.FrameTree
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		tree, err = cdppage.GetFrameTree().Do(ctx)
		return err
	}))
	require.Len(t, tree.ChildFrames, 1)
	inside := tree.ChildFrames[0].Frame
	require.Equal(t, s.url+"/runs", inside.UnreachableURL)
	require.NotEqual(t, cdp.FrameID(""), inside.ID)
	require.True(t, eval[bool](p, `document.querySelector("iframe").contentDocument === null`))
}

// A decision about something that has gone on since it was seen is refused, and the page shows it anew.
func TestADecisionAboutWhatWasNotSeenIsRefused(t *testing.T) {
	s := newSite(t, httpapi.Operator, approval)
	s.start("refund", "refund-1", "null")
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: "ann", Role: httpapi.Operator}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/v1/feed" { // the tab gets no frame
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			<-req.Context().Done()
			return
		}
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	p := newTab(t, front.URL)
	p.allow("412 (Precondition Failed)")
	p.open("/decisions")
	p.sees("Is contract done as meant?")
	s.post("/v1/runs/refund-1/messages", `{"name": "by-the-way"}`)
	p.click(".decide button", "Approve")
	p.sees("what you saw is not the newest")
	p.sees("What has happened since")
	p.click(".decide button", "Approve")
	p.sees("0 open")
}
