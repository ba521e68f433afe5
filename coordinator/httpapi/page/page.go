// Package page serves the web page of a server: plain ES modules and styles, embedded, without a build step. The page has no data of
// its own; it asks for all of it under /v1, as every other client does.
//
//	index.html ─▶ app.js ─▶ views/*.js ─▶ draw/*.js    a view is a file; pictures are drawn on canvases
//	                 │          │
//	                 │          └─▶ model.js           a run as signals, which the feed changes
//	                 └─▶ feed.js, api.js               one stream a browser, whichever tab reads it; requests
//
// Scripts are sent as one, without comments and indentation: see bundle.go and lean.go. Every address of a view answers with index.html;
// only the address has the state of a view.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed files
var embedded embed.FS

// Prefix begins the addresses of scripts and styles.
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

// all are the files of the page, as they are sent.
type all struct {
	files   map[string]*file
	version string // of all files: a part of the addresses in index.html, so that a browser asks once for each file that it may keep
}

// sent is made when the first file is asked for.
var sent = sync.OnceValue(func() all {
	files := map[string]*file{}
	root, err := fs.Sub(embedded, "files")
	if err != nil { // of embedded files
		panic(err)
	}
	script, within, err := bundled(root)
	if err != nil {
		panic(err)
	}
	files[first] = newFile(first, lean(first, script))
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || within[name] != "" {
			return err
		}
		raw, err := fs.ReadFile(root, name)
		files[name] = newFile(name, lean(name, raw))
		return err
	})
	if err != nil {
		panic(err)
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum.Write([]byte(files[name].tag))
	}
	version := hex.EncodeToString(sum.Sum(nil)[:8])
	index := bytes.ReplaceAll(files[indexFile].raw, []byte(`"`+Prefix), []byte(`"`+Prefix+version+"/"))
	files[indexFile] = newFile(indexFile, index)
	return all{files, version}
})

// indexFile is the file with which a browser begins.
const indexFile = "index.html"

// Handler returns the handler of Views and of all paths below Prefix.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name, ok := strings.CutPrefix(req.URL.Path, Prefix)
		if !ok {
			name = indexFile
		}
		name, kept := strings.CutPrefix(name, sent().version+"/")
		f := sent().files[name]
		if f == nil {
			http.NotFound(w, req)
			return
		}
		if kept {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			w.Header().Set("Cache-Control", "no-cache") // asked for each time, sent when it has changed
		}
		f.send(w, req, http.StatusOK)
	})
}

// Missing answers a browser's request for an unknown address with the page, which says so. It reports whether it has.
func Missing(w http.ResponseWriter, req *http.Request) bool {
	if req.Method != http.MethodGet || strings.HasPrefix(path.Clean(req.URL.Path)+"/", "/v1/") || !strings.Contains(req.Header.Get("Accept"), "text/html") {
		return false
	}
	req.Header.Del("If-None-Match") // a missing page is sent whole each time
	w.Header().Set("Cache-Control", "no-cache")
	sent().files[indexFile].send(w, req, http.StatusNotFound)
	return true
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

func (f *file) send(w http.ResponseWriter, req *http.Request, status int) {
	header := w.Header()
	for name, value := range security {
		header.Set(name, value)
	}
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
	w.WriteHeader(status)
	_, _ = w.Write(content) // the client may have gone
}
