package moves

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

func newExport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [RUN…]",
		Short: "Write runs to a file that import reads",
		Long: `Export writes runs as lines of JSON, with everything that they need: the workflows, the events, each large value once, and of a
world the content of its newest snapshots. The runs that a run has started are exported with it. The runs go on meanwhile, and
remain in the journal.

The file depends only on the runs: exported, imported and exported again, they are the same bytes. It has the inputs and outputs
of the runs unchanged. The names under which workflows are published are not in it.

RUN is the id of a run, or an unambiguous beginning of it. --where selects runs as in sluice runs list, and --all selects all. A
file is written whole or not at all.

It ends with 0 if the runs are written, with 1 if the journal cannot be read or the file cannot be written, and with 2 if there
is no such run or journal, or for wrong usage.`,
		Example: `  sluice export tuesday --data ./journal -o tuesday.jsonl
  sluice export --where 'status:failed label.team:payments' --data ./journal > failed.jsonl
  sluice export --all --data ./journal | gzip > runs.jsonl.gz`,
	}
	var dir, where, out string
	var all bool
	cli.RunsFlag(cmd, &dir)
	flags := cmd.Flags()
	flags.StringVarP(&where, "where", "w", "", "the runs that `QUERY` selects")
	flags.BoolVar(&all, "all", false, "all runs")
	flags.StringVarP(&out, "output", "o", "-", "write to `FILE`; - is standard output")
	cli.Complete(cmd, cli.RunArgument)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		ways := 0
		for _, given := range []bool{len(args) > 0, cmd.Flags().Changed("where"), all} {
			if given {
				ways++
			}
		}
		switch {
		case ways == 0:
			return errors.New("which runs? name them, or select them by --where QUERY, or take --all")
		case ways > 1:
			return errors.New("name runs, select them by --where, or take --all: only one of these")
		case cmd.Flags().Changed("where") && where == "":
			return errors.New("--where is empty; --all means all runs")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return cli.ExitOf(writeFile(cmd.OutOrStdout(), out, func(w io.Writer) error {
			return folder.With(cmd.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
				return c.Export(cmd.Context(), w, where, args...)
			})
		}))
	}
	return cmd
}

// writeFile writes a file whole or not at all: the old file stays until the new one is complete. Standard output, and anything that is not
// a regular file, is written in place.
func writeFile(stdout io.Writer, name string, write func(io.Writer) error) (err error) {
	if name == "-" {
		return buffered(stdout, write)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("-o: %s is a folder, and not a file", name)
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	err = buffered(f, write)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

func buffered(to io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(to, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
