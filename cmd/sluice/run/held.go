package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/cmd/sluice/view"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

// errHostEnded means that the process that worked on the folder ended before it carried out the request.
var errHostEnded = errors.New("the process that worked on the folder has ended")

// askHost makes a request to the process that works on the folder, or to a server.
func (f *runFlags) askHost(ask func(*folder.Client) error) error {
	c, err := folder.Dial(f.data)
	if err == nil {
		err = errors.Join(ask(c), c.Close())
	}
	if !client.IsURL(f.data) && (errors.Is(err, api.ErrNotHeld) || errors.Is(err, coordinator.ErrShutdown)) {
		return errHostEnded
	}
	return err
}

// request returns the request that starts a run elsewhere, and its workflow; nil if it is started by name.
func (f *runFlags) request(ctx context.Context, input value.Value, arg string) (*api.Request, *template.Workflow, error) {
	if f.id != "" {
		if err := limits.CheckID(f.id); err != nil {
			return nil, nil, cli.Refuse(fmt.Errorf("--id: %w", err))
		}
	}
	req := &api.Request{Verb: api.Begin, Actor: cli.Actor("", f.data), ID: f.id}
	var err error
	if req.Labels, err = f.labels(); err != nil {
		return nil, nil, cli.Refuse(err)
	}
	if req.Dir, err = os.Getwd(); err != nil {
		return nil, nil, cli.Fail(err)
	}
	attached := &api.Attachment{Input: cli.ValueJSON(input)}
	var w *template.Workflow
	if f.named && !isFile(arg) {
		req.Name = arg
	} else if attached.Parcel, w, err = f.load(ctx, arg); err != nil {
		return nil, nil, cli.Refuse(err)
	}
	if req.Attachment, err = attached.Encode(); err != nil {
		return nil, nil, cli.Fail(err)
	}
	return req, w, nil
}

// load reads the workflow. Its operations may belong to workers of the process that works on the folder.
func (f *runFlags) load(ctx context.Context, file string) (p *parcel.Parcel, w *template.Workflow, err error) {
	p, w, f.unbound, err = cli.LoadForHost(ctx, file, f.data)
	return p, w, err
}

// runHeld starts a run in the process that works on the folder, and follows it. It returns errHostEnded if that process has ended before
// it started the run.
func (f *runFlags) runHeld(cmd *cobra.Command, input value.Value, arg string, stops *interrupts) error {
	if f.directory != "" || len(f.passEnv) > 0 || f.worlds != (worldFlags{}) {
		return cli.Refuse(fmt.Errorf("another process works on %s, and it decides about --directory, --pass-env and what is kept of worlds: "+
			"start that one with them", f.data))
	}
	ctx := cmd.Context()
	req, w, err := f.request(ctx, input, arg)
	if err != nil {
		return err
	}
	req.Document = w == nil
	var done api.Done
	err = f.askHost(func(c *folder.Client) (err error) {
		done, err = c.Do(ctx, req)
		return err
	})
	if err == nil && w == nil {
		w, err = kinds.ParseStored(done.Document)
	}
	switch {
	case errors.Is(err, errHostEnded):
		return err
	case err != nil:
		return f.refused(err)
	case done.Warning != "":
		printNote(cmd.ErrOrStderr(), "warning: %s", done.Warning)
	}
	return f.followHeld(cmd, &heldRun{dir: f.data, run: done.Run, next: 1}, &view.Run{Workflow: w, Dir: f.data}, stops)
}

// resumeHeld follows a run that the process that works on the folder has resumed already, or shows a run that has ended. It returns the
// Exit for any other run, and errHostEnded if the process has ended.
func (f *runFlags) resumeHeld(cmd *cobra.Command, stops *interrupts) error {
	var shown *api.Run
	var document []byte
	err := f.askHost(func(c *folder.Client) (err error) {
		shown, document, err = c.Workflow(cmd.Context(), f.resume)
		return err
	})
	switch {
	case errors.Is(err, errHostEnded):
		return err
	case err != nil:
		return resumeError(f.resume, err)
	case shown.Incomplete:
		return incompleteExit(f.data, shown.Run)
	case shown.Held:
		return heldExit(f.data, shown.Run)
	case !shown.Finished && !shown.Driven:
		return cli.Fail(fmt.Errorf("another process works on %s, but not on run %s: resume the run when the process has ended, or work on all runs of the folder with:\n  %s",
			f.data, progress.Clean(shown.Run), cli.Command("serve", "--data", f.data)))
	}
	w, err := kinds.ParseStored(document)
	if err != nil {
		return cli.Fail(err)
	}
	return f.followHeld(cmd, &heldRun{dir: f.data, run: shown.Run, next: 1, seen: shown.Events}, &view.Run{Workflow: w, Dir: f.data, Seen: shown.Events}, stops)
}

// heldExit returns the Exit for a run that is held since it was imported.
func heldExit(dir, run string) error {
	return cli.Fail(fmt.Errorf("run %s is held since it was imported; once no other process goes on with it, have it go on here:\n  %s",
		progress.Clean(run), cli.CommandLine(dir, []string{"resume", run})))
}

// incompleteExit returns the Exit for a run whose import was interrupted.
func incompleteExit(dir, run string) error {
	return cli.Fail(fmt.Errorf("run %s is incomplete: its import is under way or was interrupted; import the file again, or delete the run:\n  %s",
		progress.Clean(run), cli.CommandLine(dir, []string{"delete", run})))
}

// followHeld shows a run on which another process works, until the run ends or this process is interrupted.
func (f *runFlags) followHeld(cmd *cobra.Command, h *heldRun, r *view.Run, stops *interrupts) error {
	ctx, letGo := context.WithCancel(cmd.Context())
	defer letGo()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-over:
		case <-stops.first():
			letGo()
		}
	}()
	v := view.New(f.output, cmd.OutOrStdout(), r, stops)
	h.view = v
	end := h.follow(ctx)
	v.End(view.Summary{Result: end.result})
	if end.interrupted {
		return &cli.Exit{Code: cli.Interrupted, Err: fmt.Errorf("run %s goes on without being followed; to follow or to cancel it, run:\n  %s\n  %s",
			progress.Clean(h.run), cli.CommandLine(f.data, []string{"runs", "watch", h.run}), cli.CommandLine(f.data, []string{"cancel", h.run}))}
	}
	return f.conclude(cmd.ErrOrStderr(), h.run, end)
}

// refused returns the Exit for a start that the process that works on the folder has refused.
func (f *runFlags) refused(err error) error {
	switch {
	case f.unbound != nil && errors.Is(err, coordinator.ErrMissing):
		return cli.Refuse(f.unbound)
	case errors.Is(err, coordinator.ErrRunExists):
		return cli.Refuse(fmt.Errorf("--id: %w", err))
	case errors.Is(err, api.ErrBadInput):
		_, faults, _ := strings.Cut(err.Error(), ": ")
		return cli.Refuse(fmt.Errorf("--input: %s", faults))
	case errors.Is(err, parcel.ErrNotPublished):
		return cli.Refuse(fmt.Errorf("%w; to start a file, give its path with its extension", err))
	}
	return cli.ExitOf(err)
}

// heldRun is a run that another process works on.
type heldRun struct {
	dir  string
	run  string
	next uint64 // sequence of the next event to be shown
	seen uint64 // sequence of the last event before this process began to follow; 0: none
	view view.View

	result    *coordinator.Result
	announced bool // it was printed that no process works on the run
}

// follow shows the run, through whatever process works on the folder, until the run ends or cannot be read, or ctx ends.
func (h *heldRun) follow(ctx context.Context) (end ending) {
	for {
		revision, _ := disk.Revision(h.dir) // if this fails, With fails, too
		err := folder.With(ctx, h.dir, coordinator.Config{}, func(c *folder.Client) error {
			if c.Held() {
				revision = nil // the process may end before it has sent everything
			}
			return h.read(ctx, c)
		})
		switch {
		case h.result != nil:
			return ending{result: h.result}
		case ctx.Err() != nil:
			return ending{interrupted: true}
		case err != nil && !errors.Is(err, api.ErrHungUp) && !errors.Is(err, api.ErrNotHeld):
			return ending{err: err}
		}
		if revision != nil && !h.announced {
			h.announced = true
			h.view.Note(fmt.Sprintf("no process works on run %s any more; waiting for one (Ctrl-C ends this). To drive it, run:\n  %s\n",
				progress.Clean(h.run), cli.ResumeCommand(h.dir, h.run)))
		}
		if err := folder.AwaitChanges(ctx, h.dir, revision); err != nil && ctx.Err() == nil {
			return ending{err: err}
		}
	}
}

// read shows the events that a client yields. If this process has opened the journal itself, it shows only existing events.
func (h *heldRun) read(ctx context.Context, c *folder.Client) error {
	last := ^uint64(0)
	if !c.Held() {
		r, err := c.Show(ctx, h.run)
		if err != nil || h.next > r.Events {
			return err
		}
		last = r.Events
	}
	for sent, err := range c.Follow(ctx, h.run, h.next) {
		if err != nil {
			return err
		}
		u, err := sent.Received()
		if err != nil {
			return err
		}
		h.next = u.Event.Seq + 1
		h.view.Update(u, u.Event.Seq > h.seen)
		if u.Event.Type == journal.RunFinished {
			h.result = inspect.NewResult(h.run, &u.Event)
		}
		if u.Event.Seq >= last {
			break
		}
	}
	return nil
}

// printNote prints a line for people.
func printNote(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, progress.CleanLines(fmt.Sprintf(format, args...)))
}
