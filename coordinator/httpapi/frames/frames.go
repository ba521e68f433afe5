// Package frames sends the frames of feeds to clients, as server-sent events or as lines of JSON, and counts the clients' streams.
package frames

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/coordinator/feed"
)

// FlushTime bounds the time in which a client must read a frame.
const FlushTime = 30 * time.Second

// Writer writes frames as server-sent events or as lines of JSON.
type Writer struct {
	w      http.ResponseWriter
	flush  *http.ResponseController
	events bool
	buffer []byte
	until  time.Time // when the client must have read the frame
}

// To returns a writer of server-sent events or of lines.
func To(w http.ResponseWriter, events bool) *Writer {
	return &Writer{w: w, flush: http.NewResponseController(w), events: events}
}

// Begin writes the header that precedes the first frame.
func (w *Writer) Begin() error {
	kind := "application/x-ndjson"
	if w.events {
		kind, w.buffer = "text/event-stream", []byte("retry: 1000\n\n")
	}
	w.w.Header().Set("Content-Type", kind)
	w.w.Header().Set("X-Accel-Buffering", "no")
	w.w.WriteHeader(http.StatusOK)
	return w.send()
}

// Frame writes a frame. Its JSON has no line breaks.
func (w *Writer) Frame(f *feed.Frame) error {
	end := "\n\n"
	if w.events {
		w.buffer = append(append(append(w.buffer, "event: "...), f.Kind...), "\nid: "...)
		w.buffer = append(append(w.buffer, f.ID...), "\ndata: "...)
	} else {
		end = "}\n"
		w.buffer = append(append(append(w.buffer, `{"event":"`...), f.Kind...), `","id":`...)
		w.buffer = append(strconv.AppendQuote(w.buffer, f.ID), `,"data":`...)
	}
	if err := w.data(f.Data); err != nil {
		return err
	}
	w.buffer = append(w.buffer, end...)
	return w.send()
}

// data writes data that many observers share. Large data is not copied: a slow observer would keep the copy.
func (w *Writer) data(data []byte) error {
	if len(data) <= copied {
		w.buffer = append(w.buffer, data...)
		return nil
	}
	w.extendDeadline()
	_, err := w.w.Write(w.buffer)
	if w.buffer = w.buffer[:0]; err == nil {
		_, err = w.w.Write(data)
	}
	return err
}

// FrameWith writes a frame with other data.
func (w *Writer) FrameWith(f feed.Frame, data any) (err error) {
	if f.Data, err = json.Marshal(data); err != nil {
		return err
	}
	return w.Frame(&f)
}

// Beat shows that the stream is alive.
func (w *Writer) Beat() error {
	w.buffer = append(w.buffer, "\n"...)
	if w.events {
		w.buffer = append(w.buffer[:0], ":\n\n"...)
	}
	return w.send()
}

// Failure writes the reason why the feed ends.
func (w *Writer) Failure(why any) error {
	data, err := json.Marshal(why)
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

// extendDeadline sets the deadline by which the client must take the next data. A deadline that is nearly as late stays.
func (w *Writer) extendDeadline() {
	if until := time.Now().Add(FlushTime); until.Sub(w.until) > FlushTime/10 {
		w.until = until
		_ = w.flush.SetWriteDeadline(until) // a writer without deadlines is one in memory
	}
}

// copied is the maximum size of data that is copied, and of a buffer that is kept.
const copied = 1 << 10

// send sends the buffer at once, and forgets one that has become large: an observer that waits keeps little memory.
func (w *Writer) send() error {
	w.extendDeadline()
	_, err := w.w.Write(w.buffer)
	if w.buffer = w.buffer[:0]; cap(w.buffer) > copied {
		w.buffer = nil
	}
	if err != nil {
		return err
	}
	return w.flush.Flush()
}
