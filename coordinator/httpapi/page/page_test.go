package page_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/page"
)

// bytesMax bounds all scripts and styles, as they are sent.
const bytesMax = 80_000

// A browser loads the files that index.html names, and the modules that those import.
func TestScriptsAndStylesAreSmall(t *testing.T) {
	names := regexp.MustCompile(`(?:src="|href="|import\{?[^"` + "`" + `]*"|from ?")([^"]+\.(?:css|m?js))"`)
	h := page.Handler()
	sizes := map[string]int{}
	var load func(target string)
	load = func(target string) {
		req := httptest.NewRequest(http.MethodGet, target, nil)
		req.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		require.Equal(t, http.StatusOK, w.Code, target)
		sizes[target] = w.Body.Len()
		z, err := gzip.NewReader(w.Body)
		require.NoError(t, err)
		text, err := io.ReadAll(z)
		require.NoError(t, err)
		for _, m := range names.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if !path.IsAbs(name) {
				name = path.Join(path.Dir(target), name)
			}
			if sizes[name] == 0 {
				load(name)
			}
		}
	}
	load("/")
	delete(sizes, "/")
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	t.Logf("%d files of %d bytes: %v", len(sizes), sum, sizes)
	for _, name := range []string{"app.js", "ui.js", "early.js", "page.css", "tokens.css", "lib/preact.mjs", "lib/htm.mjs", "lib/hooks.mjs", "lib/signals.mjs", "lib/signals-core.mjs"} {
		require.Contains(t, sizes, addressOf(t, name))
	}
	require.LessOrEqual(t, sum, bytesMax)
}

// addressOf returns the address of a file by which index.html names it, or a module that it names.
func addressOf(t *testing.T, name string) string {
	w := httptest.NewRecorder()
	page.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	m := regexp.MustCompile(`"(` + page.Prefix + `[0-9a-f]{16}/)early\.js"`).FindStringSubmatch(w.Body.String())
	require.NotNil(t, m, "%s", w.Body)
	return m[1] + name
}

// A browser keeps the files that index.html names without asking again: the address is of the content. It asks each time for the index, and
// for a file by its plain name.
func TestABrowserKeepsFiles(t *testing.T) {
	h := page.Handler()
	for target, kept := range map[string]bool{"/": false, "/runs": false, page.Prefix + "app.js": false, addressOf(t, "app.js"): true, addressOf(t, "lib/htm.mjs"): true} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		require.Equal(t, http.StatusOK, w.Code, target)
		require.Equal(t, kept, strings.Contains(w.Header().Get("Cache-Control"), "immutable"), target)
		require.Equal(t, !kept, w.Header().Get("Cache-Control") == "no-cache", target)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, page.Prefix+"0123456789abcdef/app.js", nil))
	require.Equal(t, http.StatusNotFound, w.Code, "of another version")
}

// A browser asks for all modules at once: index.html names those that app.js imports, directly or indirectly.
func TestModulesAreAskedForAtOnce(t *testing.T) {
	index, err := os.ReadFile("files/index.html")
	require.NoError(t, err)
	var named []string
	for _, m := range regexp.MustCompile(`<link rel="modulepreload" href="/page/(.+)">`).FindAllSubmatch(index, -1) {
		named = append(named, string(m[1]))
	}
	modules, err := filepath.Glob("files/lib/*.mjs")
	require.NoError(t, err)
	for i, name := range modules {
		modules[i] = strings.TrimPrefix(name, "files/")
	}
	require.ElementsMatch(t, append(modules, "ui.js"), named)
}

func walk(t *testing.T, take func(name string, text []byte)) {
	root := os.DirFS("files")
	require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		take(name, text)
		return err
	}))
}

// Scripts import files that are there, and nothing from elsewhere; the sources have no inline style, which the policy would refuse.
func TestNothingIsFetchedFromElsewhere(t *testing.T) {
	imports := map[string]*regexp.Regexp{
		".js":  regexp.MustCompile(`(?m)^(?:import|export) (?:.* from )?"([^"]*)"`),
		".mjs": regexp.MustCompile(`from"([^"]*)"`), // of libraries, which are minified
	}
	found := 0
	walk(t, func(name string, text []byte) {
		if r := imports[path.Ext(name)]; r != nil {
			for _, m := range r.FindAllSubmatch(text, -1) {
				target := string(m[1])
				found++
				require.True(t, strings.HasPrefix(target, "."), "%s imports %s", name, target)
				_, err := os.Stat(path.Join("files", path.Dir(name), target))
				require.NoError(t, err, "%s imports %s", name, target)
			}
		}
		if path.Ext(name) == ".js" {
			require.NotContains(t, string(text), ` style="`, name)
			require.NotContains(t, string(text), "autofocus", "%s: the browser complains if something has the focus already", name)
			require.NotRegexp(t, `https?://`, string(text), name)
		}
	})
	require.Greater(t, found, 20)
}

func TestFilesAreSentSafely(t *testing.T) {
	h := page.Handler()
	ask := func(target string, headers ...string) *http.Response {
		req := httptest.NewRequest(http.MethodGet, target, nil)
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w.Result()
	}
	for _, target := range []string{"/", "/runs", "/runs/a", page.Prefix + "app.js", page.Prefix + "lib/htm.mjs", page.Prefix + "tokens.css"} {
		resp := ask(target)
		require.Equal(t, http.StatusOK, resp.StatusCode, target)
		policy := resp.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			require.Contains(t, policy, part)
		}
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"))
		whole, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NotEmpty(t, whole)

		zipped := ask(target, "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
		z, err := gzip.NewReader(zipped.Body)
		require.NoError(t, err)
		again, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, whole, again)

		known := ask(target, "If-None-Match", resp.Header.Get("ETag"))
		require.Equal(t, http.StatusNotModified, known.StatusCode)
	}
	require.Equal(t, "text/javascript; charset=utf-8", ask(page.Prefix+"app.js").Header.Get("Content-Type"))
	require.Equal(t, http.StatusNotFound, ask(page.Prefix+"nothing.js").StatusCode)
}
