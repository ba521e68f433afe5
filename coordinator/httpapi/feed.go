package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/feed"
)

const (
	heartbeat = 15 * time.Second // between two signs of life
	flushTime = 30 * time.Second // in which a client must take what is sent
)

// streams counts open feeds.
type streams struct {
	max, each int

	mu  sync.Mutex
	all int
	of  map[string]int // by client
}

func newStreams(max, each int) *streams { return &streams{max: max, each: each, of: map[string]int{}} }

// enter counts a stream of a client, or refuses it. leave must be called at its end.
func (s *streams) enter(client string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[client] >= s.each:
		return nil, problem(CodeStreams, "a client has at most %d streams at the same time", s.each)
	case s.all >= s.max:
		return nil, problem(CodeStreams, "the server has at most %d streams at the same time", s.max)
	}
	s.all++
	s.of[client]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.of[client]--; s.of[client] == 0 {
			delete(s.of, client)
		}
	}, nil
}

// client names who has a stream: a token at an address.
func (c *exchange) client() string {
	host, _, _ := net.SplitHostPort(c.req.RemoteAddr)
	return c.who.Name + "@" + host
}

// resumed returns behind which id the feed is to be resumed; "": from the start.
func (c *exchange) resumed() string {
	if id := c.req.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return c.query("after")
}

// observer is one of package feed.
type observer interface {
	Next(ctx context.Context) (feed.Frame, error)
	Close()
}

func feedOfRun(c *exchange) error {
	o := feed.Options{View: feed.View(c.query("view"))}
	switch o.View {
	case "", feed.Steps, feed.Events:
	default:
		return problem(CodeBadRequest, "a view is steps or events").at("query/view")
	}
	if id := c.resumed(); id != "" {
		seq, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return problem(CodeBadRequest, "ids of this feed are numbers of events")
		}
		o.Resume, o.After = true, seq
	}
	if c.plain() {
		return c.watch(o.After)
	}
	return c.stream(func() (observer, error) { return c.hub.Run(c.req.Context(), c.req.PathValue("run"), o) })
}

// watch answers with the changes behind an event as lines of package api.
func (c *exchange) watch(after uint64) error {
	r, err := c.of(api.Watch)
	if err != nil {
		return err
	}
	r.From, r.UntilParked = after+1, c.query("until") == "parked"
	_, err = c.ask(c.req.Context(), r, nil)
	return err
}

func feedOfAll(c *exchange) error {
	return c.stream(func() (observer, error) { return c.hub.All(c.query("q"), c.resumed()) })
}

// stream sends frames until the client goes, the feed ends or the server stops.
func (c *exchange) stream(open func() (observer, error)) error {
	leave, err := c.streams.enter(c.client())
	if err != nil {
		return err
	}
	defer leave()
	o, err := open()
	if err != nil {
		return err
	}
	defer o.Close()
	ctx, cancel := context.WithCancel(c.req.Context())
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	c.unhurried()
	w := newFrameWriter(c.w, strings.Contains(c.req.Header.Get("Accept"), "text/event-stream"))
	if err := w.begin(); err != nil {
		return nil // the client has gone
	}
	for checked := time.Now(); ; {
		waiting, done := context.WithTimeout(ctx, heartbeat)
		f, err := o.Next(waiting)
		done()
		if now := time.Now(); now.Sub(checked) >= heartbeat { // the token may have been revoked
			if refused := c.authenticate(); refused != nil {
				err = refused
			}
			checked = now
		}
		switch {
		case err == nil:
			err = w.frame(f)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			err = w.beat()
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		default:
			err = errors.Join(w.failure(problemOf(err)), io.EOF)
		}
		if err != nil {
			return nil
		}
	}
}

// frameWriter writes frames as server-sent events or as lines of JSON.
type frameWriter struct {
	w      http.ResponseWriter
	flush  *http.ResponseController
	events bool
	buffer []byte
}

func newFrameWriter(w http.ResponseWriter, events bool) *frameWriter {
	return &frameWriter{w: w, flush: http.NewResponseController(w), events: events}
}

func (w *frameWriter) begin() error {
	kind := "application/x-ndjson"
	if w.events {
		kind, w.buffer = "text/event-stream", []byte("retry: 1000\n\n")
	}
	w.w.Header().Set("Content-Type", kind)
	w.w.Header().Set("X-Accel-Buffering", "no")
	w.w.WriteHeader(http.StatusOK)
	return w.send()
}

// frame writes a frame. Its JSON has no line breaks.
func (w *frameWriter) frame(f feed.Frame) error {
	if w.events {
		w.buffer = append(append(append(w.buffer, "event: "...), f.Kind...), "\nid: "...)
		w.buffer = append(append(append(w.buffer, f.ID...), "\ndata: "...), f.Data...)
		w.buffer = append(w.buffer, "\n\n"...)
		return w.send()
	}
	w.buffer = append(append(append(w.buffer, `{"event":"`...), f.Kind...), `","id":`...)
	w.buffer = strconv.AppendQuote(w.buffer, f.ID)
	w.buffer = append(append(append(w.buffer, `,"data":`...), f.Data...), "}\n"...)
	return w.send()
}

// beat shows that the stream is alive.
func (w *frameWriter) beat() error {
	w.buffer = append(w.buffer, "\n"...)
	if w.events {
		w.buffer = append(w.buffer[:0], ":\n\n"...)
	}
	return w.send()
}

// failure writes why the feed ends.
func (w *frameWriter) failure(p *Problem) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if w.events {
		w.buffer = append(append(append(w.buffer, "event: error\ndata: "...), data...), "\n\n"...)
		return w.send()
	}
	w.buffer = append(append(append(w.buffer, `{"event":"error","data":`...), data...), "}\n"...)
	return w.send()
}

// send sends the buffer at once, and forgets one that has become large: an observer that waits keeps little memory.
func (w *frameWriter) send() error {
	_ = w.flush.SetWriteDeadline(time.Now().Add(flushTime)) // a writer without deadlines is one in memory
	_, err := w.w.Write(w.buffer)
	if w.buffer = w.buffer[:0]; cap(w.buffer) > 1<<10 {
		w.buffer = nil
	}
	if err != nil {
		return err
	}
	return w.flush.Flush()
}
