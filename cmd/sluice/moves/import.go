package moves

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// formats lists the formats of workflows that earlier versions of import accepted.
var formats = []string{"wfformat"}

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Read runs that export has written",
		Long: `Import reads a file of exported runs into a journal, which is made if there is none. Exported again, the runs are the same bytes.

The file is checked as a whole before anything is written: a file that was cut or changed is refused, and so is one with a run
whose id the journal has with other content. Then nothing is imported. A run that is there with the same content is confirmed. An
import that was interrupted is completed by the next one of the same file.

Runs that have not ended are held: no process continues them, because the process from which they come may still do so. Once that
process has stopped, sluice resume RUN lets a run go on here; runs and runs show mark the runs that are held.

To convert a file of another format to a workflow, see convert.

With -o json it prints one list, and with -o jsonl one object a line:
  {"run":…,"events":…,"there":…,"held":…}

It ends with 0 if all runs of the file are there, with 1 if the journal cannot be written, and with 2 if the file is refused, or
for wrong usage.`,
		Example: `  sluice import tuesday.jsonl --data ./journal
  sluice import runs.jsonl --data ./copy -o jsonl | jq 'select(.held) | .run'`,
	}
	var dir, actor string
	cli.RunsFlag(cmd, &dir)
	cmd.Flags().StringVar(&actor, "actor", "", "record `NAME` as the holder of the runs (default: the user's name)")
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json", "jsonl")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := convertArguments(args); err != nil {
			return err
		}
		return cli.Arguments(cmd, args)
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if wrong := convertArguments(cmd.Flags().Args()); wrong != nil {
			return wrong
		}
		return cli.SuggestFlag(cmd, err)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		actor = cli.Actor(actor, dir)
		report := &importReport{dir: dir, objects: cli.NewObjects(cmd.OutOrStdout(), output.Value == "json"), text: output.Value == "text"}
		file, err := openRegular(args[0])
		if err != nil {
			return cli.Refuse(err)
		}
		defer func() { _ = file.Close() }()
		if err := importInto(cmd, dir, file, actor, report); err != nil {
			return cli.ExitOf(err)
		}
		return report.end(cmd)
	}
	return cmd
}

// convertArguments returns an error if the arguments belong to convert, else nil.
func convertArguments(args []string) error {
	if len(args) > 0 && slices.Contains(formats, args[0]) {
		return fmt.Errorf("import reads exported runs; to convert a file of another format to a workflow: sluice convert %s", strings.Join(args, " "))
	}
	return nil
}

// openRegular opens a file, which must be regular: it is read twice.
func openRegular(name string) (*os.File, error) {
	if name == "-" {
		return nil, errors.New("the file is read twice, so standard input will not do; write it to a file first")
	}
	file, err := readfile.Open(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; it is read twice, so write it to a file first", err)
	}
	return file, err
}

// importInto imports a file. If there is no journal, it creates one only for an acceptable file.
func importInto(cmd *cobra.Command, dir string, file *os.File, actor string, report *importReport) error {
	name := file.Name()
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if holds, _ := records.Holds(nil, dir); !holds { // opening the folder reports its faults
		if err := transfer.Verify(cmd.Context(), file); err != nil {
			return api.Refused(name, err)
		}
	}
	err = folder.WithNew(cmd.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
		return c.Import(cmd.Context(), path, actor, report.add)
	})
	if e, ok := errors.AsType[*api.Error](err); ok {
		e.Message = strings.Replace(e.Message, path, name, 1)
	}
	return err
}

// importReport counts the imported runs of a file, and prints them.
type importReport struct {
	dir                 string
	objects             *cli.Objects
	text                bool
	written, there      int
	held                []string // ids of the first held runs that no call has started
	heldTops, heldTotal int
}

// heldMax bounds the held runs that are named; the others are counted.
const heldMax = 5

func (r *importReport) add(run *api.Imported) error {
	if !r.text {
		r.objects.Print(run)
	}
	if run.There {
		r.there++
	} else {
		r.written++
	}
	if run.Held {
		if r.heldTotal++; !strings.Contains(run.Run, "/") {
			if r.heldTops++; r.heldTops <= heldMax {
				r.held = append(r.held, run.Run)
			}
		}
	}
	return nil
}

func (r *importReport) end(cmd *cobra.Command) error {
	if !r.text {
		return r.objects.End()
	}
	w := cmd.OutOrStdout()
	text := fmt.Sprintf("imported %d runs", r.written)
	if r.written == 1 {
		text = "imported 1 run"
	}
	if r.there > 0 {
		text += fmt.Sprintf(", and %d were there already, with the same content", r.there)
	}
	fmt.Fprintln(w, text)
	if r.heldTotal == 0 {
		return nil
	}
	fmt.Fprintf(w, "%d of them have not ended and are held; once no other process works on a run, let it go on here:\n", r.heldTotal)
	for _, run := range r.held {
		fmt.Fprintln(w, progress.Clean("  "+cli.CommandLine(r.dir, []string{"resume", run})))
	}
	if more := r.heldTops - len(r.held); more > 0 {
		fmt.Fprintf(w, "  and so for %d more: %s\n", more, cli.CommandLine(r.dir, []string{"runs"}))
	}
	return nil
}
