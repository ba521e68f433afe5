package commands

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// runHelp explains RUN and the effect of commands on a run; ownHelp replaces it for some verbs.
const runHelp = `RUN is the id of a run, or an unambiguous beginning of it. If a process works on DIR, the command is sent to it; if
not, the command is journaled directly and takes effect when the run is resumed.`

var ownHelp = map[api.Verb]string{
	api.Delete: `RUN is the whole id of a run. If a process works on DIR, it deletes the run;
if not, the run is deleted directly.`,
	api.Sweep: `RUN is the id of a run, or an unambiguous beginning of it. If a process works on DIR, it does the
sweep; if not, the sweep is done directly.`,
}

// outputHelp describes the output, after runHelp; ownOutput replaces it for some verbs.
const outputHelp = `With -o json it prints one object:
{"run":…,"did":…,"step":…,"status":…,"driven":…,"warning":…}, where did is the verb, driven is true if a
process works on the run, and warning explains why the command may have no effect. Otherwise one line has the effect and the next
step; if no process works on the run, standard error has the command that starts one.

With --dry-run nothing is changed: it prints the events that would be journaled, in the JSON object as "would", or is refused like
the command.`

var ownOutput = map[api.Verb]string{
	api.Delete: `With -o json it prints one object a line, {"run":…}.

With --dry-run nothing is deleted: it prints the runs that would be deleted, {"run":…,"dry":true,"deletes":[…]}, or is refused
like the command.`,
	api.Sweep: `With --dry-run nothing is deleted: it prints the runs and data that would be deleted, in
the same form; the object for RUN has "dry":true.`,
}

// exitHelp ends the help of every command.
const exitHelp = `It ends with 0 if the command is done and durable, with 1 if the run's state does not allow it, and with 2 if there is no such
run, step or cell, or for wrong usage.`

// command is a verb that sends a command to a run: a request that is journaled or refused.
type command struct {
	dir    string
	req    api.Request
	output *cli.Choice
	said   bool // the outcome was printed
}

// arguments holds the positional arguments that shells complete, by verb.
var arguments = map[api.Verb][]cli.Argument{
	api.Send:   {cli.RunArgument, cli.AwaitedArgument},
	api.Decide: {cli.RunArgument, cli.StepArgument, cli.DecisionArgument},
	api.Pause:  {cli.RunArgument, cli.StepArgument},
	api.Resume: {cli.RunArgument, cli.StepArgument},
	api.Abort:  {cli.RunArgument, cli.StepArgument},
	api.Retry:  {cli.RunArgument, cli.StepArgument},
	api.Patch:  {cli.RunArgument},
	api.Cancel: {cli.RunArgument},
	api.Keep:   {cli.RunArgument},
	api.Sweep:  {cli.RunArgument},
}

// newCommand returns the verb, with the flags that all commands have; its positional argument is RUN.
func newCommand(verb api.Verb, cmd *cobra.Command) (*cobra.Command, *command) {
	c := &command{req: api.Request{Verb: verb}}
	cmd.Long += "\n\n" + cmp.Or(ownHelp[verb], runHelp) + "\n\nA refused command changes nothing. " + cmp.Or(ownOutput[verb], outputHelp) + "\n\n" + exitHelp
	cli.RunsFlag(cmd, &c.dir)
	cli.Complete(cmd, arguments[verb]...)
	c.output = cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.Flags().StringVar(&c.req.Actor, "actor", "", "record `NAME` as the author of the command (default: the user's name)")
	takesDry(cmd, &c.req.Dry)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.req.Run = args[0]
		return c.send(cmd)
	}
	return cmd, c
}

// takesReason adds the flag --reason.
func (c *command) takesReason(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.req.Reason, "reason", "r", "", "record the reason `TEXT`")
}

// send sends the command, and prints the result.
func (c *command) send(cmd *cobra.Command) error {
	done, err := c.do(cmd)
	if err != nil {
		return cli.ExitOf(err)
	}
	return c.report(cmd, &done)
}

// do sends the command.
func (c *command) do(cmd *cobra.Command) (done api.Done, err error) {
	c.req.Actor = cli.Actor(c.req.Actor, c.dir)
	err = folder.With(cmd.Context(), c.dir, coordinator.Config{}, func(client *folder.Client) (err error) {
		done, err = client.Do(cmd.Context(), &c.req)
		return err
	})
	return done, err
}

// report prints the result of the command.
func (c *command) report(cmd *cobra.Command, done *api.Done) error {
	if c.output.Value == "json" {
		p := cli.NewObjects(cmd.OutOrStdout(), false)
		p.Print(done)
		return p.End()
	}
	if done.Warning != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", progress.Clean(done.Warning))
	}
	if done.Dry {
		printDryRun(cmd.OutOrStdout(), done)
		return nil
	}
	if !c.said {
		fmt.Fprintln(cmd.OutOrStdout(), progress.Clean(c.confirmation(done)))
	}
	if !done.Driven && c.req.Verb != api.Cancel && c.req.Verb != api.Pause {
		fmt.Fprintf(cmd.ErrOrStderr(), "no process works on run %s: start again the program that has its Go operations, or if it has none, run:\n  %s\n", progress.Clean(done.Run),
			cli.ResumeCommand(c.dir, done.Run))
	}
	return nil
}

// confirmation returns the line that confirms a command.
func (c *command) confirmation(done *api.Done) string {
	what, run, next := c.req.Step, "run "+done.Run, ""
	if what == "" {
		what = run
	} else {
		what += " of " + run
	}
	if done.Status != "" {
		next = "the run is " + done.Status
	}
	if done.Driven {
		next = "a process works on the run"
	}
	text := ""
	switch c.req.Verb {
	case api.Cancel:
		text, next = "cancelled "+what, ""
	case api.Pause:
		text, next = "paused "+what, "to go on: "+cli.CommandLine(c.dir, resumeArguments(done.Run, c.req.Step))
	case api.Resume:
		text = "resumed " + what
	case api.Abort:
		text = "aborted " + what
	case api.Retry:
		text = "retried " + what
	case api.Decide:
		text = fmt.Sprintf("decided that the task of %s is %s", what, strings.ReplaceAll(c.req.Decision, "_", " "))
	case api.Send:
		text = fmt.Sprintf("sent message %q to %s", c.req.Message, run)
	case api.Patch:
		text = "changed the context of " + run
	}
	if next != "" {
		text += "; " + next
	}
	return text
}
