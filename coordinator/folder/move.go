package folder

import (
	"context"
	"io"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// Export writes runs as a file to w: the named ones, or, if no run is named, those that a query selects.
func (c *Client) Export(ctx context.Context, w io.Writer, query string, runs ...string) error {
	return c.ask(ctx, &api.Request{Verb: api.Export, Query: query, Runs: runs}, func(r *api.Reply) (err error) {
		if len(r.Data) > 0 {
			_, err = w.Write(r.Data)
		}
		return err
	})
}

// Import takes in the runs of an exported file, which is named by its absolute path and read by the process that holds the directory.
// It passes the outcome of each run to each.
func (c *Client) Import(ctx context.Context, file, actor string, each func(*api.Imported) error) error {
	return c.ask(ctx, &api.Request{Verb: api.Import, File: file, Actor: actor}, func(r *api.Reply) error {
		if r.Imported != nil {
			return each(r.Imported)
		}
		return nil
	})
}

// Backup makes the process that holds the directory copy its journal into another directory, named by its absolute path.
func (c *Client) Backup(ctx context.Context, dir, actor string) error {
	return c.ask(ctx, &api.Request{Verb: api.Backup, File: dir, Actor: actor}, func(*api.Reply) error { return nil })
}
