package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// journalFlag is the flag of all verbs about runs in a directory.
func journalFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVarP(dir, "data", "d", "", "the folder `DIR` that the journal of the runs is in")
	if err := cmd.MarkFlagRequired("data"); err != nil {
		panic(err) // only for a flag that does not exist
	}
}

// exitOfWish says what the help of verbs that change a run says at its end.
const exitOfWish = `

RUN is the id of a run, or as much of its beginning as tells it from others. Where a process works on DIR, it is asked;
else the journal is changed directly, and takes effect when somebody goes on with the run. What is refused changes nothing.
With -o json it prints one object: {"run":…,"driven":…,"warning":…}, where driven says that a process works on the run, and
warning why what was done may not be what was meant.

It ends with 0 if it is done and durable, with 1 if the run's state does not allow it, and with 2 if there is no such run
or step, or for wrong usage.`

// wish is a verb that changes a run.
type wish struct {
	dir    string
	req    api.Request
	output *choice
}

// newWish makes a verb that changes a run, with the flags that all of them have.
func newWish(verb api.Verb, cmd *cobra.Command) (*cobra.Command, *wish) {
	w := &wish{req: api.Request{Verb: verb}}
	cmd.Long += exitOfWish
	journalFlag(cmd, &w.dir)
	w.output = choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.Flags().StringVar(&w.req.Actor, "actor", "", "record `NAME` as who wanted it (default: the user's name)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w.req.Run = args[0]
		return w.make(cmd)
	}
	return cmd, w
}

// reasoned adds the flag for why.
func (w *wish) reasoned(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&w.req.Reason, "reason", "r", "", "record why, as `TEXT` for people")
}

// make has the wish journaled, or refused.
func (w *wish) make(cmd *cobra.Command) error {
	if w.req.Actor == "" {
		w.req.Actor = userName()
	}
	var done api.Done
	err := control.With(cmd.Context(), w.dir, coordinator.Config{}, func(c *control.Client) (err error) {
		done, err = c.Do(cmd.Context(), &w.req)
		return err
	})
	if err != nil {
		return exitOf(err)
	}
	if w.output.value == "json" {
		p := newRecordPrinter(cmd.OutOrStdout(), false)
		p.print(&done)
		return p.end()
	}
	if done.Warning != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", progress.Clean(done.Warning))
	}
	if !done.Driven && w.req.Verb != api.Cancel && w.req.Verb != api.Pause {
		fmt.Fprintf(cmd.ErrOrStderr(), "nobody works on run %s, to go on run:\n  %s\n", progress.Clean(done.Run),
			resumeCommand(w.dir, progress.Clean(done.Run)))
	}
	return nil
}

// exitOf gives the exit code for what a request was answered with.
func exitOf(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return &exit{interrupted, nil}
	}
	for _, unknown := range []error{
		coordinator.ErrRunNotFound, coordinator.ErrStepNotFound, api.ErrAmbiguous, api.ErrBadRequest, api.ErrNoJournal,
	} {
		if errors.Is(err, unknown) {
			return refuse(err)
		}
	}
	if errors.Is(err, journal.ErrDamaged) {
		err = fmt.Errorf("%w\nRun 'sluice doctor' to see what is damaged and what can be mended", err)
	}
	return &exit{failed, err}
}

// userName is who uses the command, as far as the system knows.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
