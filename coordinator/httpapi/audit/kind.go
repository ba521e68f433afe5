package audit

import "net/http"

// KindOf returns the kind of the entry about a request; "" if it is not recorded. A route commands if a client needs the right to
// change something.
func KindOf(method, route string, commands bool, status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusMisdirectedRequest:
		return Refused
	case route == "/login", route == "/v1/session" && method == http.MethodPost:
		if status >= http.StatusBadRequest {
			return ""
		}
		return Login
	case route == "/v1/session" && method == http.MethodDelete:
		return Logout
	case method == http.MethodGet, !commands, route == "/v1/check", route == "/v1/diff": // the last two change nothing
		return ""
	}
	return Act
}
