package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluiceflow/sluice/coordinator/workers/door"
)

// worker returns the handler of a route for workers.
func worker[B, A any](act func(door.Door, context.Context, *B) (A, error)) func(*exchange) error {
	return func(c *exchange) error {
		var b B
		if err := c.body(&b); err != nil {
			return err
		}
		c.allowLong()
		at := door.Door{Hub: c.engine.Workers(), Token: c.who.Name, ID: c.who.ID, Operations: c.who.Operations, Any: c.who.Role == Admin}
		answer, err := act(at, c.req.Context(), &b)
		if r, ok := errors.AsType[*door.Refusal](err); ok {
			return problem(r.Code, "%s", r.Text).at(r.Pointer)
		}
		if err != nil {
			return err
		}
		return c.reply(http.StatusOK, answer)
	}
}

func inputOfCall(c *exchange) error {
	return worker(func(d door.Door, _ context.Context, _ *EmptyBody) (any, error) { return d.Input(c.query("lease")) })(c)
}

func listWorkers(d door.Door, _ context.Context, _ *EmptyBody) (any, error) { return d.List() }
