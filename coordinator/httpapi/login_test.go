package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/rates"
)

// cookieOf returns the cookie that an answer sets.
func cookieOf(t *testing.T, resp *http.Response) *http.Cookie {
	t.Helper()
	resp.Body.Close()
	require.Len(t, resp.Cookies(), 1)
	return resp.Cookies()[0]
}

// asBrowser makes the site's requests those of a browser: without a token, with a cookie.
func (s *site) asBrowser(c *http.Cookie) []string {
	return []string{"Authorization", "", "Cookie", c.Name + "=" + c.Value}
}

func TestABrowserLogsInOnceByAnAddress(t *testing.T) {
	s := newSite(t, nil)
	path := s.server.Invite(Identity{Name: "ann", Role: Admin})
	resp := s.do("GET", path, "", "Authorization", "")
	require.Equal(t, 303, resp.StatusCode)
	require.Equal(t, "/", resp.Header.Get("Location"))
	c := cookieOf(t, resp)
	require.True(t, c.HttpOnly)
	require.False(t, c.Secure)
	require.Equal(t, http.SameSiteLaxMode, c.SameSite)
	require.Equal(t, "/", c.Path)
	require.True(t, strings.HasPrefix(c.Name, "sluice-"), c.Name)
	browser := s.asBrowser(c)
	for _, path := range []string{"/v1/me", "/v1/session"} {
		require.Equal(t, Me{"ann", "admin", true}, ok[Me](s, "GET", path, "", browser...))
	}
	require.Equal(t, Me{"the operator", "operator", false}, ok[Me](s, "GET", "/v1/me", ""), "a token goes before a cookie")

	s.refused(CodeUnauthorized, "GET", path, "", "Authorization", "")
	resp = s.do("GET", path, "", browser...)
	resp.Body.Close()
	require.Equal(t, 303, resp.StatusCode, "who is logged in may use a bookmark")
	require.Empty(t, resp.Cookies())

	for _, from := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://evil.example"}} {
		s.refused(CodeCrossOrigin, "POST", "/v1/runs", `{"workflow": "approval"}`, append(browser, from...)...)
		s.refused(CodeCrossOrigin, "DELETE", "/v1/session", "", append(browser, from...)...)
	}
	s.refused(CodeHost, "GET", "/v1/me", "", append(browser, "Host", "rebound.example")...)
	s.refused(CodeHost, "GET", s.server.Invite(Identity{Name: "ann", Role: Admin}), "", "Host", "rebound.example")

	gone := cookieOf(t, s.do("DELETE", "/v1/session", "", browser...))
	require.Negative(t, gone.MaxAge)
	s.refused(CodeUnauthorized, "GET", "/v1/me", "", browser...)
	require.Equal(t, Me{Role: "nobody"}, ok[Me](s, "GET", "/v1/session", "", browser...))
	require.Equal(t, "nobody", ok[Me](s, "DELETE", "/v1/session", "", browser...).Role)
}

func TestASessionEndsWithItsToken(t *testing.T) {
	revoked := false
	s := newSite(t, func(c *Config) {
		c.Secure = true
		known := c.Authenticate
		c.Authenticate = func(token string) (Identity, bool) {
			who, ok := known(token)
			return who, ok && !revoked
		}
	})
	s.refused(CodeUnauthorized, "POST", "/v1/session", `{"token": "wrong"}`)
	s.refused(CodeBadRequest, "POST", "/v1/session", `{"tokn": "viewer"}`)
	c := cookieOf(t, s.do("POST", "/v1/session", `{"token": " viewer\n"}`, "Authorization", ""))
	require.Equal(t, "__Host-sluice", c.Name)
	require.True(t, c.Secure)
	require.Empty(t, c.Domain)
	browser := s.asBrowser(c)
	require.Equal(t, Me{"the viewer", "viewer", true}, ok[Me](s, "GET", "/v1/me", "", browser...))
	s.refused(CodeForbidden, "POST", "/v1/runs", `{"workflow": "approval"}`, browser...)
	revoked = true
	s.refused(CodeUnauthorized, "GET", "/v1/me", "", browser...)
	revoked = false
	s.refused(CodeUnauthorized, "GET", "/v1/me", "", browser...)
}

func TestForgedCookiesAreGuesses(t *testing.T) {
	s := newSite(t, nil)
	name := strings.Split(strings.TrimPrefix(s.url, "http://"), ":")[1]
	s.guesses(func(int) *http.Response {
		return s.do("GET", "/v1/me", "", "Authorization", "", "Cookie", "sluice-"+name+"=forged")
	})
	s.refused(CodeRate, "GET", "/login?key=guess", "", "Authorization", "")
	s.refused(CodeRate, "POST", "/v1/session", `{"token": "guess"}`, "Authorization", "")
	s.server.wrong = rates.New(rateOfWrong)
	s.refused(CodeUnauthorized, "GET", "/v1/me", "", "Authorization", "")
	s.refused(CodeUnauthorized, "GET", "/login", "", "Authorization", "")
}

func TestAnOpenServerNeedsNoLogin(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Authenticate, c.Open = nil, Identity{Name: "all", Role: Admin} })
	require.Equal(t, Me{"all", "admin", false}, ok[Me](s, "GET", "/v1/me", "", "Authorization", ""))
	require.Equal(t, Me{"all", "admin", false}, ok[Me](s, "GET", "/v1/session", "", "Authorization", ""))
	s.refused(CodeBadRequest, "POST", "/v1/session", `{"token": "x"}`)
}

func TestAnswersAreNotFramed(t *testing.T) {
	s := newSite(t, nil)
	for _, path := range []string{"/v1/me", "/v1/runs", "/nothing"} {
		resp := s.do("GET", path, "")
		resp.Body.Close()
		require.Contains(t, resp.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.Equal(t, "same-origin", resp.Header.Get("Cross-Origin-Resource-Policy"))
		require.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"))
		require.Empty(t, resp.Header.Get("Access-Control-Allow-Origin"))
	}
}
