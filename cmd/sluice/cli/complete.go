package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// The bounds of a completion. They are small, because a shell waits for it.
const (
	completedMax   = 100
	completionTime = 2 * time.Second
)

// An Argument is the kind of a positional argument, for the completion of shells.
type Argument int

// The arguments that shells complete.
const (
	RunArgument     Argument = iota // id of a run
	StepArgument                    // key of a step of the run named first, or address of a cell
	AwaitedArgument                 // name of a message that the run named first waits for
	DecisionArgument
	WorkflowArgument // name of a published workflow, or a file
)

// Complete makes shells complete the positional arguments of a command from the journal in the folder of --data. Errors
// are ignored, and the time is bounded.
func Complete(cmd *cobra.Command, arguments ...Argument) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		none := cobra.ShellCompDirectiveNoFileComp
		if len(args) >= len(arguments) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		if arguments[len(args)] == DecisionArgument {
			return []string{api.Fulfilled, api.NotFulfilled}, none
		}
		if arguments[len(args)] == WorkflowArgument {
			names, _ := CompleteIn(cmd, func(ctx context.Context, c *folder.Client) []string { return published(ctx, c, begun) }, begun)
			return names, cobra.ShellCompDirectiveDefault // if no name is found, shells complete files
		}
		return CompleteIn(cmd, func(ctx context.Context, c *folder.Client) []string {
			switch arguments[len(args)] {
			case StepArgument:
				return stepNames(ctx, c, args[0])
			case AwaitedArgument:
				return awaitedNames(ctx, c, args[0])
			}
			return runIDs(ctx, c, begun)
		}, begun)
	}
}

// CompleteRunFlag makes shells complete the value of a flag that names a run.
func CompleteRunFlag(cmd *cobra.Command, flag string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return CompleteIn(cmd, func(ctx context.Context, c *folder.Client) []string { return runIDs(ctx, c, begun) }, begun)
	})
	if err != nil {
		panic(err) // only if the flag does not exist, or exists twice
	}
}

// CompleteIn returns the names from list that begin with begun, the beginning of the argument.
func CompleteIn(
	cmd *cobra.Command, list func(context.Context, *folder.Client) []string, begun string,
) ([]string, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	dir := os.Getenv(DataVariable)
	if f := cmd.Flags().Lookup("data"); f != nil && f.Value.String() != "" {
		dir = f.Value.String()
	}
	if holds, err := records.Holds(nil, dir); dir == "" || !holds || err != nil {
		return nil, none
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	var found []string
	_ = folder.With(ctx, dir, coordinator.Config{}, func(c *folder.Client) error {
		for _, name := range list(ctx, c) {
			if strings.HasPrefix(name, begun) && len(found) < completedMax {
				found = append(found, name)
			}
		}
		return nil
	})
	return found, none
}

// runIDs returns the ids of runs that begin with begun. They include child runs only if begun contains a slash, and so names a parent.
func runIDs(ctx context.Context, c *folder.Client, begun string) (ids []string) {
	for r, err := range c.Runs(ctx) {
		if err != nil || len(ids) == completedMax {
			break
		}
		rest, ok := strings.CutPrefix(r.Run, begun)
		if ok && (strings.Contains(begun, "/") || !strings.Contains(rest, "/")) {
			ids = append(ids, r.Run+"\t"+r.Workflow+", "+r.Status)
		}
	}
	return ids
}

// published returns the names of published workflows that begin with begun.
func published(ctx context.Context, c *folder.Client, begun string) (names []string) {
	for name, err := range c.Published(ctx, begun, completedMax) {
		if err != nil {
			break
		}
		names = append(names, *name)
	}
	return names
}

// stepNames returns the keys of the steps of a run, or the addresses of the first cells of a world.
func stepNames(ctx context.Context, c *folder.Client, run string) (names []string) {
	r, err := c.Show(ctx, run)
	if err != nil {
		return nil
	}
	for i := range r.Steps {
		names = append(names, r.Steps[i].Step+"\t"+r.Steps[i].Status)
	}
	for i := range r.Cells {
		names = append(names, r.Cells[i].Cell+"\t"+r.Cells[i].Status)
	}
	return names
}

// awaitedNames returns the names of the messages that a run waits for now.
func awaitedNames(ctx context.Context, c *folder.Client, run string) (names []string) {
	r, err := c.Show(ctx, run)
	if err != nil {
		return nil
	}
	for i := range r.Awaits {
		if w := &r.Awaits[i]; w.Kind == "message" {
			names = append(names, w.Name+"\t"+w.Step)
		}
	}
	return names
}
