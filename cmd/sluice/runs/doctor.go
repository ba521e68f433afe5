package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/copies"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

func newDoctor() *cobra.Command {
	var dir string
	var rebuild bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a journal, and rebuild records that follow from its events",
		Long: `Doctor reads a journal from the first record to the last. It checks that every event can be read and none is missing, that
definitions and large values are present and unchanged, that every run follows from its events, and that the list of runs
agrees with that. It prints a line for each fault: the run, the fault, and its consequences.

Events cannot be rebuilt: a lost or damaged event is reported each time, and not changed. All other records derive from events,
and --rebuild writes them again. A damaged run does not prevent other runs from going on.

No other process may work on the journal meanwhile. With --server the host that works on the journal checks a copy, if it was
started with --backup-dir, and the runs go on. Doctor has one run in memory at a time.

For programs, -o jsonl prints one object for each fault, and -o json one list of all objects:
  {"run":…,"content":…,"kind":…,"event":…,"what":…,"means":…,"derived":…,"mended":…}

A run whose import was interrupted is reported, too: its records are sound, but it is incomplete.

It ends with 0 if there is no fault, or all were mended; with 1 if a fault is left, or the journal cannot be opened; and
with 2 if there is no journal, or for wrong usage.`,
		Example: `  sluice doctor --data ./journal
  sluice doctor --data ./journal -o jsonl | jq 'select(.derived | not) | .run'
  sluice doctor --server http://127.0.0.1:8080
  sluice doctor --data ./journal --rebuild`,
		Args: cli.Arguments,
	}
	cli.RunsFlag(cmd, &dir)
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "rebuild records that derive from events")
	output := cli.Choose(cmd, "output", "o", "what to print", "table", "json", "jsonl")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if rebuild && client.IsURL(dir) {
			return cli.Refuse(errors.New("--rebuild needs exclusive access to the folder: end the host, and use --data"))
		}
		report, err := examine(cmd, dir, rebuild, output.Value)
		switch {
		case errors.Is(err, journal.ErrLocked):
			return cli.Fail(fmt.Errorf("%w; doctor needs the folder for itself: end that process first", err))
		case err != nil:
			return cli.ExitOf(err)
		case !report.Sound() || len(report.Incomplete) > 0:
			return cli.Fail(nil)
		}
		return nil
	}
	return cmd
}

// examine checks a folder, and prints the faults as they are found.
func examine(cmd *cobra.Command, dir string, rebuild bool, output string) (report doctor.Report, err error) {
	w := cmd.OutOrStdout()
	objects := cli.NewObjects(io.Discard, false)
	if output != "table" {
		objects, w = cli.NewObjects(w, output == "json"), io.Discard
	}
	tell := func(f doctor.Fault) error {
		objects.Print(f)
		fmt.Fprintln(w, progress.Clean(line(&f)))
		return objects.Flush()
	}
	if client.IsURL(dir) {
		return atServer(cmd, dir, tell, objects, w)
	}
	raw, err := folder.TakeRaw(cmd.Context(), dir, rebuild, disk.Config{Logger: slog.New(slog.DiscardHandler)})
	if errors.Is(err, journal.ErrDamaged) {
		unopened := doctor.Fault{Kind: doctor.Database, What: err.Error(), Means: "nothing in the folder can be read, and nothing mended"}
		report.Faults = 1
		return report, errors.Join(tell(unopened), objects.End())
	}
	if err != nil {
		return report, err
	}
	report, err = doctor.Check(cmd.Context(), raw, doctor.How{Mend: rebuild}, tell)
	damage, unread := audit.Check(dir)
	err = errors.Join(err, unread)
	for _, what := range damage {
		report.Faults++
		err = errors.Join(err, tell(doctor.Fault{Kind: doctor.Audit, What: what, Means: audit.Means}))
	}
	for _, run := range report.Incomplete {
		err = errors.Join(err, tell(doctor.Fault{Run: run, Kind: doctor.Run, What: "it is incomplete, since its import was interrupted",
			Means: "nothing goes on with it: import the file again, or delete run " + run}))
	}
	if err = errors.Join(err, raw.Close(), objects.End()); err == nil {
		fmt.Fprintln(w, summaryLine(&report))
	}
	return report, err
}

// atServer requests a check from a server, and prints the faults.
func atServer(cmd *cobra.Command, url string, tell func(doctor.Fault) error, objects *cli.Objects, w io.Writer) (doctor.Report, error) {
	c, err := client.Dial(url, os.Getenv(folder.TokenVariable))
	if err != nil {
		return doctor.Report{}, err
	}
	defer c.Close()
	var found copies.Report
	if err := c.Job(cmd.Context(), jobs.Doctor, struct{}{}, &found); err != nil {
		return found.Report, err
	}
	for _, f := range found.Found {
		err = errors.Join(err, tell(f))
	}
	if err = errors.Join(err, objects.End()); err == nil {
		fmt.Fprintln(w, summaryLine(&found.Report))
	}
	return found.Report, err
}

// line describes a fault for people.
func line(f *doctor.Fault) string {
	text := fmt.Sprintf("%s: %s: %s", cmp.Or(f.Run, f.Content, string(f.Kind)), f.What, f.Means)
	switch {
	case f.Mended != "":
		text += " (" + f.Mended + ")"
	case f.Derived:
		text += " (--rebuild makes it anew)"
	}
	return text
}

// summaryLine returns the last line of a report for people.
func summaryLine(r *doctor.Report) string {
	looked := fmt.Sprintf("%s with %s, %s", count(r.Runs, "run", "runs"), count(r.Events, "event", "events"),
		count(r.Contents, "definition or large value", "definitions and large values"))
	if len(r.Incomplete) > 0 {
		looked += ", and " + count(len(r.Incomplete), "run is", "runs are") + " incomplete"
	}
	switch {
	case r.Faults == 0 && len(r.Incomplete) > 0:
		return "no fault: " + looked
	case r.Faults == 0:
		return "sound: " + looked
	case r.Sound():
		return fmt.Sprintf("mended: %s in %s", count(r.Mended, "fault", "faults"), looked)
	case r.Mended > 0:
		return fmt.Sprintf("%s in %s; %d of them mended", count(r.Faults, "fault", "faults"), looked, r.Mended)
	}
	return fmt.Sprintf("%s in %s", count(r.Faults, "fault", "faults"), looked)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
