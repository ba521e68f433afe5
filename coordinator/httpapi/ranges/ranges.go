// Package ranges answers with a part of a value.
package ranges

import (
	"bytes"
	"net/http"
	"time"
)

// Serve answers with the part of some bytes that the header Range names, or with all of them. If ok is false, nothing was
// answered, because there is no such part.
func Serve(w http.ResponseWriter, req *http.Request, data []byte) (ok bool) {
	answer := &answer{ResponseWriter: w}
	kind := w.Header().Get("Content-Type")
	http.ServeContent(answer, req, "", time.Time{}, bytes.NewReader(data))
	if answer.none {
		w.Header().Set("Content-Type", kind)
		w.Header().Del("Content-Range")
	}
	return !answer.none
}

// answer passes on everything except a refusal, for which net/http has a text of its own.
type answer struct {
	http.ResponseWriter
	none bool
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.none = status == http.StatusRequestedRangeNotSatisfiable; !a.none {
		a.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(data []byte) (int, error) {
	if a.none {
		return len(data), nil
	}
	return a.ResponseWriter.Write(data)
}

// Unwrap returns the writer with the deadlines.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
