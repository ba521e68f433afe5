// Package idempotency caches answers by Idempotency-Key, for requests that are made again.
package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Bounds of the kept answers.
const (
	keepTime   = 24 * time.Hour
	answersMax = 10_000
	sizeMax    = 64 << 20 // of all of them
)

// ErrOther means that another request was made with the key.
var ErrOther = errors.New("idempotency: another request was made with this key")

// Responses are the answers to requests, by key. The zero value has none. It is safe for concurrent use; the process keeps them.
type Responses struct {
	mu    sync.Mutex
	by    map[[sha256.Size]byte]*Response
	order []*Response // the oldest first
	size  int         // of their contents
}

// Response is the answer to a request, or a request in progress.
type Response struct {
	done      chan struct{} // closed when the answer is there
	key, body [sha256.Size]byte
	at        time.Time
	status    int // 0: in progress, or it failed and may be tried again
	header    http.Header
	content   []byte
}

// Begin returns the answer of an earlier request with the key, or a new one that the caller must end. A preview takes no key: without an
// earlier request it gets nil.
func (k *Responses) Begin(key, body [sha256.Size]byte, preview bool, now time.Time) (a *Response, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.order) > 0 && (len(k.order) >= answersMax || k.size > sizeMax || now.Sub(k.order[0].at) >= keepTime) {
		k.drop(k.order[0])
		k.order = k.order[1:]
	}
	if a = k.by[key]; a != nil || preview {
		return a, false
	}
	a = &Response{key: key, body: body, done: make(chan struct{}), at: now}
	if k.by == nil {
		k.by = map[[sha256.Size]byte]*Response{}
	}
	k.by[key], k.order = a, append(k.order, a)
	return a, true
}

// End keeps an answer, unless it is a refusal: that has changed nothing, so the request may be tried again.
func (k *Responses) End(a *Response, w *Recorder) {
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
	close(a.done)
}

func (k *Responses) drop(a *Response) {
	if k.by[a.key] == a {
		k.size -= len(a.content)
		delete(k.by, a.key)
	}
}

// Repeat sends the answer again, when it is complete, to a request with that body. It reports false if a is nil, or if the answer was not
// kept. Its error is ErrOther if the first request had another body, or that of ctx.
func (a *Response) Repeat(ctx context.Context, w http.ResponseWriter, body [sha256.Size]byte) (bool, error) {
	switch {
	case a == nil:
		return false, nil
	case a.body != body:
		return false, ErrOther
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if a.status == 0 {
		return false, nil
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.content) // the client may have gone
	return true, nil
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
