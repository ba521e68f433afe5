package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// takesDry adds the flag --dry-run.
func takesDry(cmd *cobra.Command, dry *bool) {
	cmd.Flags().BoolVar(dry, "dry-run", false, "change nothing, only print the effect")
}

// printDryRun prints the effect of a command that was not carried out.
func printDryRun(out io.Writer, done *api.Done) {
	text, events := "nothing was done; it would be accepted", make([]string, len(done.Would))
	for i := range done.Would {
		e := &done.Would[i]
		if events[i] = fmt.Sprintf("#%d %s", e.Seq, e.Type); e.Step != "" {
			events[i] += " of " + e.Step
		}
	}
	switch {
	case len(events) > 0:
		text += ", and journal " + strings.Join(events, ", ")
	case len(done.Deletes) > 0:
		text = "to be deleted: " + strings.Join(done.Deletes, ", ")
	}
	fmt.Fprintln(out, progress.Clean(text))
}
