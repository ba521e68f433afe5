package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
)

// LinesType is the media type of an answer that is the lines of package api, as by the socket of a folder: each a Reply, the last Done or
// Error. Every route that carries out a request of that package answers so, if Accept says it; Go's client does.
const LinesType = "application/vnd.sluice.replies"

// errAnswered says that the answer is written.
var errAnswered = errors.New("answered")

// plain reports whether the client wants lines of package api.
func (c *exchange) plain() bool { return strings.Contains(c.req.Header.Get("Accept"), LinesType) }

// pass carries out a request of package api and answers with its lines.
func (c *exchange) pass(ctx context.Context, r *api.Request) error {
	if r.Verb.Follows() {
		leave, err := c.streaming()
		if err != nil {
			return err
		}
		defer leave()
		c.unhurried()
		following, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		ctx = following
	}
	w := &lineWriter{w: c.w, flush: http.NewResponseController(c.w), prompt: r.Verb.Follows()}
	err := api.Handle(ctx, c.engine, r, w.reply)
	if err != nil && !w.begun {
		return err
	}
	if err != nil {
		_ = w.reply(&api.Reply{Error: api.ErrorOf(err)}) // the client may have gone
	}
	_ = w.send()
	return errAnswered
}

// lineBytes is how much of an answer that nobody waits for is sent at once.
const lineBytes = 32 << 10

// lineWriter writes replies as lines.
type lineWriter struct {
	w      http.ResponseWriter
	flush  *http.ResponseController
	b      bytes.Buffer
	begun  bool
	prompt bool // each line is sent at once
}

func (w *lineWriter) reply(r *api.Reply) error {
	w.begun = true
	e := json.NewEncoder(&w.b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return err
	}
	if w.prompt || w.b.Len() > lineBytes {
		return w.send()
	}
	return nil
}

func (w *lineWriter) send() error {
	w.w.Header().Set("Content-Type", LinesType)
	_ = w.flush.SetWriteDeadline(deadline()) // a writer without deadlines is one in memory
	_, err := w.w.Write(w.b.Bytes())
	if w.b.Reset(); err != nil {
		return err
	}
	return w.flush.Flush()
}

// deadline returns until when a client must take or send something.
func deadline() time.Time { return time.Now().Add(frames.FlushTime) }
