package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// A query with an unreadable part is refused by every route: without it a preview would act, and a filter select all.
func TestAQueryThatCannotBeReadIsRefused(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	for i := range routes {
		r := &routes[i]
		for _, query := range []string{"?q=status:failed%zz", "?dry=true;x", "?dry=true%zz", "?%"} {
			answer := s.answered(r.Method, filled(r.Path)+query, strings.NewReader(`{}`))
			require.Equal(t, 400, answer.Code, "%s %s%s: %s", r.Method, r.Path, query, answer.Body)
			require.Contains(t, answer.Body.String(), "the query cannot be read")
		}
	}
	document := `{"document": "{kind: Workflow, name: new, operations: {v: {value: 1}}, steps: [{operation: v}]}"}`
	for _, query := range []string{"?dry", "?dry=", "?dry=TRUE", "?dry=true&dry=true", "?dry=false"} {
		s.refused(CodeBadRequest, "POST", "/v1/workflows"+query, document)
	}
	s.refused("not_published", "GET", "/v1/workflows/new", "")
}

func TestAServerOfAnotherNameAnswersNothing(t *testing.T) {
	s := newSite(t, nil)
	for _, path := range []string{"/", "/runs", "/page/app.js", "/nothing", "/v1/runs", "/openapi.json", "/v1//runs"} {
		resp := s.do("GET", path, "", "Host", "rebound.example")
		resp.Body.Close()
		require.Contains(t, []int{404, 421}, resp.StatusCode, path)
		require.Equal(t, path == "/v1//runs", resp.StatusCode == 404, path)
	}
	require.Equal(t, HealthAnswer{Status: "ok"}, ok[HealthAnswer](s, "GET", "/livez", "", "Host", "rebound.example"))
}

func TestALookAtTheLoginAddressDoesNotUseItUp(t *testing.T) {
	s := newSite(t, nil)
	path := s.server.Invite(Identity{Name: "ann", Role: Admin})
	resp := s.do("HEAD", path, "", "Authorization", "")
	resp.Body.Close()
	require.Equal(t, 405, resp.StatusCode)
	require.Equal(t, "GET", resp.Header.Get("Allow"))
	require.Empty(t, resp.Cookies())
	cookieOf(t, s.do("GET", path, "", "Authorization", ""))
}

func TestOtherBodiesThanJSONInUTF8AreRefused(t *testing.T) {
	s := newSite(t, nil)
	for _, kind := range []string{"", "text/plain", "application/json; charset=latin1", "application/json; charset"} {
		s.refused(CodeMediaType, "POST", "/v1/runs", `{"workflow": "approval"}`, "Content-Type", kind)
	}
	s.refused(CodeMediaType, "POST", "/v1/runs", `{"workflow": "approval"}`, "Content-Encoding", "gzip")
	ok[api.Run](s, "POST", "/v1/runs", `{"workflow": "approval"}`, "Content-Type", `application/json; charset="UTF-8"`)
}

// TestWhatIsTooLargeOfARequestIsNoConflict: each of these requests exceeds a limit, and the server would accept it without the excess.
func TestWhatIsTooLargeOfARequestIsNoConflict(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	s.start("a")
	s.start("b")
	ok[api.Done](s, "POST", "/v1/runs/b/cancel", "{}")
	before := s.everything()
	text := func(n int) string { return quoted(strings.Repeat("x", n)) }
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf(`"n%d": ""`, i)
	}
	for _, r := range []struct{ path, body string }{
		{"/v1/runs", `{"workflow": "approval", "labels": {"n": ` + text(1025) + `}}`},
		{"/v1/runs", `{"workflow": "approval", "labels": {` + text(129) + `: ""}}`},
		{"/v1/runs", `{"workflow": "approval", "labels": {` + strings.Join(many, ",") + `}}`},
		{"/v1/runs/b/rerun", `{"from": "ask", "labels": {"n": ` + text(1025) + `}}`},
		{"/v1/runs/a/cancel", `{"reason": ` + text(64<<10+1) + `}`},
		{"/v1/runs/a/steps/ask/abort", `{"reason": ` + text(64<<10+1) + `}`},
		{"/v1/runs/a/messages", `{"name": ` + text(64<<10+1) + `}`},
		{"/v1/bulk", `{"act": "cancel", "q": "workflow:approval", "expect": 2, "reason": ` + text(4097) + `}`},
	} {
		code, detail, status := s.outcome("POST", r.path, r.body)
		require.Equal(t, "limit 422", fmt.Sprint(code, " ", status), "%s %.60s: %s", r.path, r.body, detail)
	}
	require.Equal(t, before, s.everything())
}

func TestAPartThatIsNotThereIsAProblem(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "approved", "payload": {"by": "ann"}}`)
	require.Equal(t, "completed", ok[api.Run](s, "GET", "/v1/runs/a", "", "Prefer", "wait=60").Status)
	for _, part := range []string{"bytes=99-", "foo", "bytes=3-1"} {
		require.Equal(t, 416, s.refused(CodeRange, "GET", "/v1/runs/a/output", "", "Range", part).Status)
	}
	resp := s.do("GET", "/v1/runs/a/output", "", "Range", "bytes=1-2")
	resp.Body.Close()
	require.Equal(t, 206, resp.StatusCode)
	require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
}
