package runs

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// query is a verb that reads a journal through a client.
type query struct {
	dir    string
	output *cli.Choice
	out    *cli.Delayed // nil until delay
}

// newQuery returns a query, and adds its flags --data, --server and --output to cmd.
func newQuery(cmd *cobra.Command) *query {
	q := &query{output: cli.Choose(cmd, "output", "o", "what to print", "table", "json", "jsonl")}
	cli.RunsFlag(cmd, &q.dir)
	return q
}

func (q *query) table() bool { return q.output.Value == "table" }

// people returns the writer for text, which discards everything if --output is JSON.
func (q *query) people(cmd *cobra.Command) io.Writer {
	if q.table() {
		return cmd.OutOrStdout()
	}
	return io.Discard
}

// objects returns the printer of JSON, which discards everything if --output is a table.
func (q *query) objects(cmd *cobra.Command) *cli.Objects {
	if q.table() {
		return cli.NewObjects(io.Discard, false)
	}
	return cli.NewObjects(cmd.OutOrStdout(), q.output.Value == "json")
}

// delay replaces the output of cmd by a writer that with can hold back.
func (q *query) delay(cmd *cobra.Command) {
	if q.out == nil {
		q.out = cli.NewDelayed(cmd.OutOrStdout())
		cmd.SetOut(q.out)
	}
}

// with calls use with a client, and returns the Exit for its error. If this process opens the journal itself, it holds the output back
// until the journal is closed.
func (q *query) with(cmd *cobra.Command, use func(*folder.Client) error) error {
	q.delay(cmd)
	err := folder.With(cmd.Context(), q.dir, coordinator.Config{}, func(c *folder.Client) error {
		q.out.Hold(!c.Held())
		return use(c)
	})
	return cli.ExitOf(errors.Join(err, q.out.Release()))
}
