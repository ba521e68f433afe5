package folder

import (
	"context"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/versions"
)

// Shadow replays a run, or all runs that a query selects, under the workflow of the request, and passes the results to each.
func (c *Client) Shadow(ctx context.Context, req api.Request, each func(*api.Shadowed) error) error {
	req.Verb = api.Shadow
	return c.ask(ctx, &req, func(r *api.Reply) error {
		if r.Shadow != nil {
			return each(r.Shadow)
		}
		return nil
	})
}

// Move switches a run to the workflow that comes with the request, and returns the differences from here on. With req.Dry it only reports
// whether it could.
func (c *Client) Move(ctx context.Context, req api.Request) (report *api.Shadowed, done api.Done, err error) {
	req.Verb = api.Move
	err = c.ask(ctx, &req, func(r *api.Reply) error {
		switch {
		case r.Shadow != nil:
			report = r.Shadow
		case r.Done != nil:
			done = *r.Done
		}
		return nil
	})
	return report, done, err
}

// Diff returns the differences between the workflow of a request and the old one, and their consequences for the open runs of the old one.
func (c *Client) Diff(ctx context.Context, req api.Request) (d *versions.Diff, err error) {
	req.Verb = api.Compare
	err = c.ask(ctx, &req, func(r *api.Reply) error {
		if r.Diff != nil {
			d = r.Diff
		}
		return nil
	})
	return d, err
}
