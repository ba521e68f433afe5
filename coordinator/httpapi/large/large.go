// Package large bounds the memory of answers that are one large value: clients may ask for many at the same time, and read them slowly.
package large

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sluiceflow/sluice/coordinator/httpapi/ranges"
)

// Default bounds of the large values that are loaded and sent at the same time.
const (
	HeldBytesMax = 128 << 20
	LoadsMax     = 2
)

const (
	smallBytes = 64 << 10         // a value up to this size takes nothing of the bound
	partBytes  = 64 << 10         // a client must take so many bytes within the time for a part
	patience   = 10 * time.Second // how long a request waits for others to end
)

// ErrBusy means that too many large values are being sent.
var ErrBusy = errors.New("too many large values are being sent")

// Values bounds the values that are sent at the same time. It is safe for concurrent use.
type Values struct {
	loads, held *semaphore.Weighted
	most        int64
}

// New returns a bound of so many bytes, and of so many values that are being loaded, whose size is not known yet.
func New(bytes, loads int64) *Values {
	return &Values{loads: semaphore.NewWeighted(loads), held: semaphore.NewWeighted(bytes), most: bytes}
}

// Load loads a value when there is room for it. A large value without room is dropped, and loaded again when there is room: others, which
// may be small, are loaded meanwhile. The caller calls release when it is sent. The error is load's, or wraps ErrBusy.
func (v *Values) Load(ctx context.Context, load func() ([]byte, error)) (value []byte, release func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	value, bytes, err := v.load(waiting, load)
	switch {
	case err != nil:
		return nil, nil, err
	case bytes == 0:
		return value, func() {}, nil
	}
	release = func() { v.held.Release(bytes) }
	if v.held.TryAcquire(bytes) {
		return value, release, nil
	}
	value = nil // frees its memory for the time of the wait
	if err := v.held.Acquire(waiting, bytes); err != nil {
		return nil, nil, errors.Join(ErrBusy, err)
	}
	again := int64(0)
	if value, again, err = v.load(waiting, load); err == nil && again > bytes {
		err = ErrBusy // it has grown
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return value, release, nil
}

// load loads a value, and returns how many bytes of the bound it takes.
func (v *Values) load(ctx context.Context, load func() ([]byte, error)) (value []byte, bytes int64, err error) {
	if err := v.loads.Acquire(ctx, 1); err != nil {
		return nil, 0, errors.Join(ErrBusy, err)
	}
	defer v.loads.Release(1)
	if value, err = load(); err == nil && len(value) > smallBytes {
		bytes = min(int64(len(value)), v.most)
	}
	return value, bytes, err
}

// Serve answers a request with a value, or the parts of it that the request asks for. A client that takes longer than part for a part
// gets no more. ok is that of ranges.Serve.
func Serve(w http.ResponseWriter, req *http.Request, value []byte, part time.Duration) (ok bool) {
	sum := sha256.Sum256(value)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`) // of the whole, for ranges
	return ranges.Serve(&deadlineWriter{w, http.NewResponseController(w), part}, req, value)
}

// deadlineWriter limits a client's time for each part.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	part    time.Duration
}

func (h *deadlineWriter) Write(data []byte) (n int, err error) {
	for len(data) > 0 && err == nil {
		var sent int
		_ = h.control.SetWriteDeadline(time.Now().Add(h.part)) // a writer without deadlines is one in memory
		sent, err = h.ResponseWriter.Write(data[:min(len(data), partBytes)])
		n, data = n+sent, data[sent:]
	}
	return n, err
}

// Body returns a body that may take long to read: each part must come within a time.
func Body(w http.ResponseWriter, body io.ReadCloser, part time.Duration) io.ReadCloser {
	return &deadlineReader{body, http.NewResponseController(w), part, 0}
}

type deadlineReader struct {
	io.ReadCloser
	control *http.ResponseController
	part    time.Duration
	missing int // bytes of the part
}

func (t *deadlineReader) Read(p []byte) (n int, err error) {
	if t.missing <= 0 {
		_ = t.control.SetReadDeadline(time.Now().Add(t.part)) // a reader without deadlines is one in memory
		t.missing = partBytes
	}
	n, err = t.ReadCloser.Read(p)
	t.missing -= n
	return n, err
}
