package frames

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// lineBytes is the size of the parts in which an answer is sent when no reader waits for single lines.
const lineBytes = 32 << 10

// Lines writes replies as lines.
type Lines struct {
	w      http.ResponseWriter
	flush  *http.ResponseController
	kind   string
	b      bytes.Buffer
	begun  bool
	prompt bool
}

// LinesTo returns a writer of lines of a media type. If prompt is true, each is sent at once.
func LinesTo(w http.ResponseWriter, kind string, prompt bool) *Lines {
	return &Lines{w: w, flush: http.NewResponseController(w), kind: kind, prompt: prompt}
}

// Begun reports whether there was a reply.
func (w *Lines) Begun() bool { return w.begun }

// Reply writes a line.
func (w *Lines) Reply(r *api.Reply) error {
	w.begun = true
	e := json.NewEncoder(&w.b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return err
	}
	if w.prompt || w.b.Len() > lineBytes {
		return w.Send()
	}
	return nil
}

// Send sends the written bytes.
func (w *Lines) Send() error {
	w.w.Header().Set("Content-Type", w.kind)
	_ = w.flush.SetWriteDeadline(time.Now().Add(FlushTime)) // a writer without deadlines is one in memory
	_, err := w.w.Write(w.b.Bytes())
	if w.b.Reset(); err != nil {
		return err
	}
	return w.flush.Flush()
}
