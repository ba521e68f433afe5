package moves

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/copies"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// backupResult is the result of a backup as JSON.
type backupResult struct {
	Backup string `json:"backup"` // the folder
	doctor.Report
}

func newBackup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy a journal while its runs go on",
		Long: `Backup makes a copy of the whole journal in the folder DIR, which must be missing or empty, and not below that of the journal. The
copy has everything that was durable when the backup began, and the audit of a host that listens. Then Backup reads the copy from
the first record to the last, as doctor does.

The copy is a journal: a process that works on it continues its runs. So do not start a process on it while another works on the
original. On the same disk the two share files that neither changes, which is fast and takes little space; to survive the loss of
the disk, a copy must be on another one. If a backup fails, its files are removed.

With --server the host makes the copy, and DIR is the name of a folder below the --backup-dir of the host.

With -o json it prints one object, with the counts of what was read:
  {"backup":…,"runs":…,"events":…,"contents":…,"faults":…,"derived":…,"mended":…}

It ends with 0 if the copy is complete and sound, with 1 if it cannot be made or has a fault, and with 2 for a folder that cannot
hold a copy, if there is no journal, or for wrong usage.`,
		Example: `  sluice backup /mnt/other/journal-tuesday --data ./journal
  sluice backup tuesday --server http://127.0.0.1:8080`,
		Args: cli.Arguments,
	}
	var dir string
	cli.RunsFlag(cmd, &dir)
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if client.IsURL(dir) {
			report, err := runJob(cmd, dir, "backup", jobs.BackupBody{Name: args[0]})
			if err != nil {
				return cli.ExitOf(err)
			}
			return printResult(cmd, args[0], &report.Report, output.Value == "json")
		}
		target, err := filepath.Abs(args[0])
		if err != nil {
			return cli.Fail(err)
		}
		var how doctor.How
		err = folder.With(cmd.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
			how.Beside = c.Held()
			return c.Backup(cmd.Context(), target, cli.UserName())
		})
		if err != nil {
			return cli.ExitOf(err)
		}
		if err := audit.Copy(dir, target); err != nil {
			return cli.Fail(fmt.Errorf("copy the audit: %w", err))
		}
		report, err := readBack(cmd, target, how)
		if err != nil {
			return cli.ExitOf(fmt.Errorf("read the copy back: %w", err))
		}
		return printResult(cmd, args[0], &report, output.Value == "json")
	}
	return cmd
}

// runJob requests a job from a server, such as a copy, and waits for its report.
func runJob(cmd *cobra.Command, url, kind string, body any) (*copies.Report, error) {
	c, err := client.Dial(url, os.Getenv(folder.TokenVariable))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var report copies.Report
	return &report, c.Job(cmd.Context(), kind, body, &report)
}

// readBack reads a copy from its first record to its last, and returns the report.
func readBack(cmd *cobra.Command, dir string, how doctor.How) (report doctor.Report, err error) {
	raw, err := folder.TakeRaw(cmd.Context(), dir, false, disk.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return report, err
	}
	report, err = doctor.Check(cmd.Context(), raw, how, func(f doctor.Fault) error {
		_, err := fmt.Fprintln(cmd.ErrOrStderr(), progress.Clean(fmt.Sprintf("%s%s: %s: %s", f.Run, f.Content, f.What, f.Means)))
		return err
	})
	return report, errors.Join(err, raw.Close())
}

// printResult prints the result of a backup, and returns the Exit for a copy with faults.
func printResult(cmd *cobra.Command, dir string, report *doctor.Report, asJSON bool) error {
	if asJSON {
		p := cli.NewObjects(cmd.OutOrStdout(), false)
		p.Print(backupResult{dir, *report})
		if err := p.End(); err != nil {
			return err
		}
	} else if report.Sound() {
		fmt.Fprintf(cmd.OutOrStdout(), "copied to %s and read back: %d runs with %d events, sound\n", progress.Clean(dir), report.Runs, report.Events)
	}
	if !report.Sound() {
		return cli.Fail(fmt.Errorf("the copy in %s has %d faults, as the journal itself may have: sluice doctor examines it", dir, report.Faults))
	}
	return nil
}
