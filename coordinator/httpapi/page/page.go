// Package page serves the web page of a server: plain ES modules and styles, embedded, without a build step. The page has no data of
// its own; it asks for all of it under /v1, as every other client does.
//
//	index.html ─▶ app.js ─▶ views/*.js ─▶ draw/*.js    a view is a file; pictures are drawn on canvases
//	                 │          │
//	                 │          └─▶ model.js           a run as signals, which the feed changes
//	                 └─▶ feed.js, api.js               one stream a browser, whichever tab reads it; requests
//
// Every address of a view answers with index.html; where one is, is in the address alone.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
)

//go:embed files
var embedded embed.FS

// Prefix is that of the addresses of scripts and styles.
const Prefix = "/page/"

// Views are the patterns, as http.ServeMux has them, of the addresses at which people see the page.
var Views = []string{
	"/{$}", "/runs", "/runs/{run}", "/decisions", "/decisions/{id}", "/workflows", "/workflows/{name}", "/start/{name}", "/publish", "/workers",
}

// security are the headers of every file. Nothing is fetched from elsewhere, nothing inline runs, and no other site may show the page.
var security = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
		"frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
}

// file is one of the page as it is sent.
type file struct {
	kind        string // media type
	tag         string // ETag
	raw, zipped []byte
}

// Handler returns the handler of Views and of all paths below Prefix.
func Handler() http.Handler {
	files := map[string]*file{}
	err := fs.WalkDir(embedded, "files", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := embedded.ReadFile(name)
		files[strings.TrimPrefix(name, "files/")] = newFile(name, lean(name, raw))
		return err
	})
	if err != nil { // of what the program holds
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name, ok := strings.CutPrefix(req.URL.Path, Prefix)
		if !ok {
			name = "index.html"
		}
		f := files[name]
		if f == nil {
			http.NotFound(w, req)
			return
		}
		f.serve(w, req)
	})
}

var styleComment = regexp.MustCompile(`(?s)\s*/\*.*?\*/`)

// lean returns a script or style of ours without comments and indentation, which are for those who read the source. Comments of scripts have
// lines of their own.
func lean(name string, raw []byte) []byte {
	switch path.Ext(name) {
	case ".css":
		raw = styleComment.ReplaceAll(raw, nil)
	case ".js":
	default:
		return raw
	}
	var b bytes.Buffer
	for line := range bytes.Lines(raw) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			b.Write(append(line, '\n'))
		}
	}
	return b.Bytes()
}

func newFile(name string, raw []byte) *file {
	sum := sha256.Sum256(raw)
	f := &file{kind: kindOf(name), tag: `"` + hex.EncodeToString(sum[:12]) + `"`, raw: raw}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one of the package
	_, _ = z.Write(raw)                                   // to memory
	_ = z.Close()
	f.zipped = b.Bytes()
	return f
}

// kindOf returns the media type of a file; that of scripts must be right on every machine.
func kindOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".md":
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(ext)
	}
}

func (f *file) serve(w http.ResponseWriter, req *http.Request) {
	header := w.Header()
	for name, value := range security {
		header.Set(name, value)
	}
	header.Set("Cache-Control", "no-cache") // asked for each time, sent when it has changed
	header.Set("ETag", f.tag)
	header.Set("Vary", "Accept-Encoding")
	if req.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.kind)
	content := f.raw
	if strings.Contains(req.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		content = f.zipped
	}
	_, _ = w.Write(content) // the client may have gone
}
