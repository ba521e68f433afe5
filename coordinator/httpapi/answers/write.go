package answers

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// Write answers with JSON. If zipped, it compresses it for clients that accept that, which is worth it for large, repetitive answers.
func Write(w http.ResponseWriter, req *http.Request, status int, data []byte, zipped bool) {
	to := io.Writer(w)
	w.Header().Set("Content-Type", "application/json")
	if zipped {
		w.Header().Set("Vary", "Accept-Encoding")
	}
	if zipped && strings.Contains(req.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer func() { _ = z.Close() }()
		to = z
	}
	w.WriteHeader(status)
	_, _ = to.Write(append(data, '\n')) // the client may have gone
}
