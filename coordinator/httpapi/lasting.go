package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/sluiceflow/sluice/coordinator/httpapi/standing"
)

// allowLong lets a request last. It lifts the read deadline, since the request has arrived, and ends the context with the token or the
// session of the client.
func (c *exchange) allowLong() {
	c.noDeadline()
	name, valid := c.credential()
	if valid == nil || c.lasts != nil {
		return
	}
	ctx, end := context.WithCancelCause(c.req.Context())
	c.lasts = c.standing.Join(name, valid, func() { end(revokedProblem()) })
	c.req = c.req.WithContext(c.lasts.Context(ctx))
}

// noDeadline lifts the read deadline, which would end an answer that lasts longer.
func (c *exchange) noDeadline() {
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // a writer without deadlines is one in memory
}

// credential names the client's credential, and returns the function that reports whether it is still valid; nil: it has none that may end.
func (c *exchange) credential() (name string, valid func() bool) {
	s := c.Server
	if s.config.Open.Role != Nobody || c.route.Role == Nobody {
		return "", nil
	}
	if token := c.bearer(); token != "" {
		return "token " + token, func() bool { _, ok := s.config.Authenticate(token); return ok }
	}
	_, secret := c.session()
	return "session " + secret, func() bool { return s.identityOf(secret).Role != Nobody }
}

// revokedProblem is the problem that ends a lasting request when the client's token or session has ended.
func revokedProblem() *Problem {
	return problem(CodeUnauthorized, "the token is not valid any more, or the session has ended")
}

// endOnRevocation returns a function that ends a feed with the client's login or token. It does not retain the exchange.
func (c *exchange) endOnRevocation() func(end func()) (check func() error, leave func()) {
	name, valid := c.credential()
	watch := &c.standing
	return func(end func()) (func() error, func()) {
		var m *standing.Member
		if valid != nil {
			m = watch.Join(name, valid, end)
		}
		return func() error {
			if !m.Valid() {
				return revokedProblem()
			}
			return nil
		}, m.Leave
	}
}
