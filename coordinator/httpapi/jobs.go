package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
)

func beginBackup(c *exchange) error {
	var b jobs.BackupBody
	if err := c.body(&b); err != nil {
		return err
	}
	if c.config.Copies != nil {
		if err := c.config.Copies.Check(b.Name); err != nil {
			return problem(CodeBadRequest, "%v", err).at("/name")
		}
	}
	return c.begin(jobs.Backup, b.Name, func(ctx context.Context) (any, error) { return c.config.Copies.Backup(ctx, b.Name) })
}

func beginDoctor(c *exchange) error {
	var b EmptyBody
	if err := c.body(&b); err != nil {
		return err
	}
	return c.begin(jobs.Doctor, "", func(ctx context.Context) (any, error) { return c.config.Copies.Doctor(ctx) })
}

// begin begins a job that makes a copy.
func (c *exchange) begin(kind, name string, do func(context.Context) (any, error)) error {
	if c.config.Copies == nil {
		return problem("not_possible", "this server has no folder for copies: start it with sluice serve --backup-dir DIR")
	}
	one, err := c.jobs.Begin(kind, name, c.who.Name, do)
	if errors.Is(err, jobs.ErrBusy) {
		return problem("busy", "%v", err)
	}
	if err != nil {
		return err
	}
	c.named = one.ID
	return c.reply(http.StatusAccepted, one)
}

// showJob returns the handler that answers with a job of a kind.
func showJob(kind string) func(*exchange) error {
	return func(c *exchange) error {
		wait := c.query("wait") == "true"
		if wait {
			c.allowLong()
		}
		one, ok := c.jobs.Get(c.req.Context(), kind, c.req.PathValue("id"), wait)
		if !ok {
			return problem(CodeNoJob, "there is no such job; those of a server that has ended are forgotten")
		}
		return c.reply(http.StatusOK, one)
	}
}
