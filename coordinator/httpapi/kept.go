package httpapi

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// Bounds of the answers that are kept for repeated requests.
const (
	keptTime  = 24 * time.Hour
	keptMax   = 10_000
	keptBytes = 64 << 20 // of all of them
)

// kept are the answers of requests with an Idempotency-Key. The process keeps them.
type kept struct {
	mu    sync.Mutex
	by    map[[sha256.Size]byte]*keptAnswer
	order []*keptAnswer // the oldest first
	bytes int           // of their contents
}

// keptAnswer is an answer, or a request in progress.
type keptAnswer struct {
	key, body [sha256.Size]byte
	done      chan struct{} // closed when the answer is there
	at        time.Time
	status    int // 0: in progress, or it failed and may be tried again
	header    http.Header
	content   []byte
}

// begin returns the answer of an earlier request with the key, or a new one that the caller must end.
func (k *kept) begin(key, body [sha256.Size]byte, now time.Time) (a *keptAnswer, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.order) > 0 && (len(k.order) >= keptMax || k.bytes > keptBytes || now.Sub(k.order[0].at) >= keptTime) {
		k.drop(k.order[0])
		k.order = k.order[1:]
	}
	if a = k.by[key]; a != nil {
		return a, false
	}
	a = &keptAnswer{key: key, body: body, done: make(chan struct{}), at: now}
	if k.by == nil {
		k.by = map[[sha256.Size]byte]*keptAnswer{}
	}
	k.by[key], k.order = a, append(k.order, a)
	return a, true
}

// end keeps an answer, unless the server has failed: then the request may be tried again.
func (k *kept) end(a *keptAnswer, w *recorder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.status = w.status; a.status == 0 || a.status >= http.StatusInternalServerError || a.status == http.StatusTooManyRequests {
		a.status = 0
		k.drop(a)
	}
	a.header, a.content = w.Header().Clone(), w.b.Bytes()
	if k.by[a.key] == a {
		k.bytes += len(a.content)
	}
	close(a.done)
}

func (k *kept) drop(a *keptAnswer) {
	if k.by[a.key] == a {
		k.bytes -= len(a.content)
		delete(k.by, a.key)
	}
}

// recorder keeps an answer while it is sent.
type recorder struct {
	http.ResponseWriter
	status int
	b      bytes.Buffer
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.b.Write(data)
	return w.ResponseWriter.Write(data)
}

// keyed reports whether answers of the route are kept for requests with the same key. A start and a message are repeated without harm by
// what is journaled.
func (r *Route) keyed() bool { return r.Once }

// once carries out a request that changes something and has a key, or repeats the answer that the first of its kind has got.
func (c *exchange) once(key string) error {
	body, err := c.content()
	if err != nil {
		return err
	}
	name := sha256.Sum256([]byte(c.who.Name + "\x00" + c.req.Method + "\x00" + c.req.URL.RequestURI() + "\x00" + key))
	a, first := c.kept.begin(name, sha256.Sum256(body), time.Now())
	if first {
		w := &recorder{ResponseWriter: c.w}
		c.w = w
		defer func() { c.kept.end(a, w) }()
		if err := c.route.serve(c); err != nil && err != errAnswered {
			c.fail(w, c.req, err)
		}
		return nil
	}
	if a.body != sha256.Sum256(body) {
		return problem(CodeKeyUsed, "another request was made with this key").at("header/Idempotency-Key")
	}
	select {
	case <-a.done:
	case <-c.req.Context().Done():
		return c.req.Context().Err()
	}
	if a.status == 0 {
		return c.route.serve(c)
	}
	for name, values := range a.header {
		c.w.Header()[name] = values
	}
	c.w.WriteHeader(a.status)
	_, _ = c.w.Write(a.content) // the client may have gone
	return nil
}
