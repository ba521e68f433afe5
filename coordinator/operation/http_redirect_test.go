package operation_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
)

func TestARedirectToAnotherHostIsNotFollowed(t *testing.T) {
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/path?token=1", http.StatusTemporaryRedirect)
	})
	for _, policy := range []string{"", template.FollowSameHost} {
		_, err := request(t, template.HTTP{URL: home.URL, Body: "text", FollowRedirects: policy}, nil)
		e := failure(t, err)
		require.Equal(t, operation.CodeRedirect, e.Code)
		require.True(t, e.Permanent)
		require.Contains(t, e.Message, "redirected to another host, "+elsewhere.URL+": ")
		require.Contains(t, e.Message, "follow_redirects: any")
		require.NotContains(t, e.Message, "token")
	}
}

// The headers and body of a binding reach only the host of the binding, and not after another host redirects back to it.
func TestAnotherHostReceivesNothingOfTheBinding(t *testing.T) {
	type answer struct {
		method, body, host string
		header             http.Header
	}
	var atHome, elsewhere []answer
	keep := func(list *[]answer, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*list = append(*list, answer{r.Method, string(body), r.Host, r.Header})
	}
	var home, other string
	home = serve(t, func(w http.ResponseWriter, r *http.Request) {
		keep(&atHome, r)
		if r.URL.Path == "/start" {
			http.Redirect(w, r, "/next?token=1", http.StatusTemporaryRedirect)
		} else if r.URL.Path == "/next" {
			http.Redirect(w, r, other+"/a", http.StatusTemporaryRedirect)
		}
	}).URL
	other = serve(t, func(w http.ResponseWriter, r *http.Request) {
		keep(&elsewhere, r)
		http.Redirect(w, r, map[string]string{"/a": "/b", "/b": home + "/end"}[r.URL.Path], http.StatusPermanentRedirect)
	}).URL
	_, err := request(t, template.HTTP{
		URL: home + "/start", Method: "PUT", Body: map[string]any{"secret": "b"}, FollowRedirects: template.FollowAny,
		Headers: map[string]string{"X-Api-Key": "k", "Authorization": "Bearer a", "Cookie": "c=d", "Host": "h.example", "User-Agent": "mine"},
	}, nil)
	require.NoError(t, err)
	require.Len(t, atHome, 3)
	for _, own := range atHome[:2] {
		require.Equal(t, `PUT {"secret":"b"} h.example k mine`,
			fmt.Sprint(own.method, " ", own.body, " ", own.host, " ", own.header.Get("X-Api-Key"), " ", own.header.Get("User-Agent")))
	}
	require.Len(t, elsewhere, 2)
	for _, a := range append(elsewhere, atHome[2]) {
		require.Empty(t, a.body)
		require.Equal(t, "PUT", a.method)
		require.NotEqual(t, "h.example", a.host)
		a.header.Del("Accept-Encoding") // the transport's own
		require.Equal(t, http.Header{"User-Agent": {"sluice"}, "Content-Length": {"0"}}, a.header)
	}
}

func TestSameHost(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		same     bool
	}{
		{"http://a", "http://a/b", true},
		{"http://a", "http://A:80", true},
		{"https://a", "https://a:443", true},
		{"http://a:8080", "http://a:8080", true},
		{"http://a", "https://a", true},
		{"https://a", "http://a", false},
		{"http://a", "http://a:81", false},
		{"http://a:8080", "https://a", false},
		{"http://a:8080", "https://a:8443", false},
		{"http://a", "http://b.a", false},
		{"http://a", "http://a.", false},
		{"http://a", "http://u@b", false},
	} {
		from, err := url.Parse(tt.from)
		require.NoError(t, err)
		to, err := url.Parse(tt.to)
		require.NoError(t, err)
		require.Equal(t, tt.same, operation.SameHost(from, to), "%s and %s", tt.from, tt.to)
	}
}
