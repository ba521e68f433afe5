// Package kept keeps the answers of requests, for those that are made again.
package kept

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// Bounds of what is kept.
const (
	keepTime   = 24 * time.Hour
	answersMax = 10_000
	sizeMax    = 64 << 20 // of all of them
)

// Answers are the answers of requests, by key. The zero value has none. It is safe for concurrent use; the process keeps them.
type Answers struct {
	mu    sync.Mutex
	by    map[[sha256.Size]byte]*Answer
	order []*Answer // the oldest first
	size  int       // of their contents
}

// Answer is an answer, or a request in progress.
type Answer struct {
	Done chan struct{} // closed when the answer is there

	key, body [sha256.Size]byte
	at        time.Time
	status    int // 0: in progress, or it failed and may be tried again
	header    http.Header
	content   []byte
}

// Begin returns the answer of an earlier request with the key, or a new one that the caller must end.
func (k *Answers) Begin(key, body [sha256.Size]byte, now time.Time) (a *Answer, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.order) > 0 && (len(k.order) >= answersMax || k.size > sizeMax || now.Sub(k.order[0].at) >= keepTime) {
		k.drop(k.order[0])
		k.order = k.order[1:]
	}
	if a = k.by[key]; a != nil {
		return a, false
	}
	a = &Answer{key: key, body: body, Done: make(chan struct{}), at: now}
	if k.by == nil {
		k.by = map[[sha256.Size]byte]*Answer{}
	}
	k.by[key], k.order = a, append(k.order, a)
	return a, true
}

// End keeps an answer, unless it is a refusal: that has changed nothing, so the request may be tried again.
func (k *Answers) End(a *Answer, w *Recorder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.status = w.status; a.status == 0 || a.status >= http.StatusBadRequest {
		a.status = 0
		k.drop(a)
	}
	a.header, a.content = w.Header().Clone(), w.b.Bytes()
	if k.by[a.key] == a {
		k.size += len(a.content)
	}
	close(a.Done)
}

func (k *Answers) drop(a *Answer) {
	if k.by[a.key] == a {
		k.size -= len(a.content)
		delete(k.by, a.key)
	}
}

// SameBody reports whether the request that got the answer had that body.
func (a *Answer) SameBody(body [sha256.Size]byte) bool { return a.body == body }

// Send sends the answer once more, after Done, or reports that it was not kept.
func (a *Answer) Send(w http.ResponseWriter) bool {
	if a.status == 0 {
		return false
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.content) // the client may have gone
	return true
}

// Recorder keeps an answer while it is sent.
type Recorder struct {
	http.ResponseWriter
	status int
	b      bytes.Buffer
}

// Unwrap is for http.ResponseController.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *Recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *Recorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.b.Write(data)
	return w.ResponseWriter.Write(data)
}
