package httpapi

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/draining"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

// LinesType is the media type of an answer that is the lines of package api, as by the socket of a folder: each a Reply, the last Done or
// Error. Every route that carries out a request of that package answers so if Accept names it, as Go's client does.
const LinesType = "application/vnd.sluice.replies"

// errAnswered means that the answer has been written.
var errAnswered = errors.New("answered")

// wantsLines reports whether the client wants lines of package api.
func (c *exchange) wantsLines() bool { return names.Accepts(c.req.Header.Values("Accept"), LinesType) }

// replyLines carries out a request of package api and answers with its lines.
func (c *exchange) replyLines(ctx context.Context, r *api.Request) error {
	ended := func(err error) error { return err }
	if r.Verb.Follows() {
		leave, err := c.streaming()
		if err != nil {
			return err
		}
		defer leave()
		c.allowLong()
		ctx, ended = draining.Bound(c.req.Context(), c.ctx, coordinator.ErrShutdown)
	}
	w := frames.LinesTo(c.w, LinesType, r.Verb.Follows())
	err := ended(api.Handle(ctx, c.engine, r, func(reply *api.Reply) error {
		c.recordSubject(reply)
		if !c.lasts.Valid() {
			return revokedProblem()
		}
		return w.Reply(reply)
	}))
	if err != nil && !w.Begun() {
		return err
	}
	if err != nil {
		e := api.ErrorOf(err)
		if p, ok := errors.AsType[*Problem](cmp.Or(context.Cause(c.req.Context()), err)); ok {
			e = &api.Error{Code: p.Code, Message: p.Detail}
		}
		c.code = e.Code
		_ = w.Reply(&api.Reply{Error: e}) // the client may have gone
	}
	_ = w.Send()
	return errAnswered
}

// deadline returns the time by which a client must take or send something.
func deadline() time.Time { return time.Now().Add(frames.FlushTime) }
