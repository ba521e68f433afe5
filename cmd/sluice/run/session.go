package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/view"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

// startParameters holds the parameters of a run to be started.
type startParameters struct {
	workflow *template.Workflow // of a file; nil: the published workflow of the name
	name     string
	input    value.Value
	id       string // "": a new one
	labels   map[string]string
	dir      string // folder in which programs start
}

// graceTime bounds the time that calls under way have to end when a run is suspended; then they are stopped.
const graceTime = time.Second

// session is one run in an engine of its own.
type session struct {
	workflow *template.Workflow
	engine   *coordinator.Engine
	run      *coordinator.Run
	begin    func(context.Context) error // starts or finds the run; called once, after open
	seen     uint64                      // sequence of the last event before this session
	log      *log
	config   coordinator.Config // of the engine
	dir      string             // of the journal; "": it is in memory, and ends with the process
}

// openToStart opens a journal to start a run. If dir is "", the journal is in memory.
func openToStart(ctx context.Context, dir string, of *startParameters, config coordinator.Config) (*session, error) {
	s := &session{workflow: of.workflow, log: &log{}, config: config, dir: dir}
	id := of.id
	store := journal.Store(memory.New())
	if dir != "" {
		kept, err := folder.Take(ctx, dir, disk.Config{Logger: s.log.logger()})
		if err != nil {
			return nil, cli.Fail(err)
		}
		store = kept
	}
	if err := s.open(ctx, store, id); err != nil {
		return nil, cli.Fail(err)
	}
	s.begin = func(ctx context.Context) (err error) {
		opts := []coordinator.Option{coordinator.WithLabels(of.labels)}
		if id != "" {
			opts = append(opts, coordinator.WithID(id))
		}
		if dir != "" { // another process may continue the run
			opts = append(opts, coordinator.WithDir(of.dir))
		}
		var document any
		if of.workflow == nil {
			s.run, document, err = parcel.StartNamed(ctx, s.engine, of.name, of.input, opts...)
		} else {
			s.run, err = s.engine.Start(ctx, of.workflow, of.input, opts...)
		}
		_, badInput := errors.AsType[*coordinator.InputError](err)
		other, exists := errors.AsType[*coordinator.ExistsError](err)
		switch {
		case err == nil && s.workflow != nil:
			return nil
		case err == nil:
			s.workflow, err = parseWorkflow(document)
			return err
		case errors.Is(err, parcel.ErrNotPublished):
			return cli.Refuse(fmt.Errorf("%w; to start a file, give its path with its extension", api.ErrorOf(err)))
		case badInput:
			return cli.Refuse(fmt.Errorf("--input: %w", err))
		case errors.Is(err, journal.ErrDeleted):
			return cli.Refuse(fmt.Errorf("--id: %w", err))
		case exists:
			return cli.Refuse(fmt.Errorf("--id: there is another run %s in this journal: %s; to go on with that one, run:\n  %s",
				id, other.Difference, cli.ResumeCommand(dir, id)))
		}
		return cli.Fail(err)
	}
	return s, nil
}

// openToResume opens a journal to resume a run, named by its id or a prefix of it.
func openToResume(ctx context.Context, dir, name string, config coordinator.Config) (*session, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, cli.Refuse(fmt.Errorf("--data: %w", err))
	}
	s := &session{log: &log{}, config: config, dir: dir}
	store, err := folder.Take(ctx, dir, disk.Config{Logger: s.log.logger()})
	if err != nil {
		return nil, cli.Fail(err)
	}
	id, err := find.In(ctx, store, name)
	if err != nil {
		return nil, errors.Join(resumeError(name, err), store.Close())
	}
	if err := s.readWorkflow(ctx, store, id); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if err := s.open(ctx, store, id); err != nil {
		return nil, cli.Fail(err)
	}
	s.begin = func(ctx context.Context) (err error) {
		if s.run, err = s.engine.Run(ctx, id); err != nil {
			return cli.Fail(err)
		}
		switch {
		case s.run.Incomplete():
			return incompleteExit(dir, id)
		case s.run.Held():
			return heldExit(dir, id)
		}
		return nil
	}
	return s, nil
}

// resumeError returns the Exit for a name that matches no run, or several.
func resumeError(name string, err error) error {
	e := api.ErrorOf(err)
	if !errors.Is(err, coordinator.ErrRunNotFound) {
		return cli.ExitOf(fmt.Errorf("--resume: %w", e))
	}
	e.Message = fmt.Sprintf("there is no run %s in this journal", name)
	return cli.Refuse(fmt.Errorf("--resume: %w", e))
}

// readWorkflow reads the workflow of a run, and the sequence of its last event, from the journal.
func (s *session) readWorkflow(ctx context.Context, store journal.Store, id string) error {
	hash := ""
	for e, err := range journal.Remaining(ctx, store, id, 1) {
		if err != nil {
			return cli.Fail(fmt.Errorf("read run %s: %w", id, err))
		}
		if s.seen = e.Seq; e.Type == journal.RunStarted && e.Detail != nil && e.Detail.Start != nil {
			hash = e.Detail.Start.Workflow
		}
	}
	if hash == "" {
		return cli.Fail(fmt.Errorf("the journal has no start of run %s", id))
	}
	for e, err := range store.Read(ctx, journal.DefinitionStream(hash), 1) {
		if err == nil {
			s.workflow, err = parseWorkflow(e.Value)
		}
		if err != nil {
			return cli.Fail(fmt.Errorf("read the workflow of run %s: %w", id, err))
		}
	}
	if s.workflow == nil {
		return cli.Fail(fmt.Errorf("the workflow of run %s is not in the journal", id))
	}
	return nil
}

func parseWorkflow(content any) (*template.Workflow, error) {
	data, err := value.JSON(content)
	if err != nil {
		return nil, err
	}
	return kinds.ParseStored(data)
}

// open makes the engine, and serves other processes if the journal is in a folder. The engine picks up only the session's own run: other
// runs would be suspended again when the session ends.
func (s *session) open(ctx context.Context, store journal.Store, id string) (err error) {
	config := s.config
	config.Logger, config.OnBlocked = s.log.logger(), s.onBlocked()
	config.PickUp = func(h journal.Head) bool { return h.Run == id }
	s.engine, err = coordinator.New(ctx, store, config)
	if err != nil || s.dir == "" {
		return err
	}
	if _, err = control.Serve(s.dir, s.engine); err != nil {
		s.log.logger().Warn("other processes cannot send commands to the run while it goes on", "error", err)
	}
	return nil
}

// follow shows the run until it ends, is interrupted, or cannot go on.
func (s *session) follow(ctx context.Context, v view.View, stops *interrupts) ending {
	following, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var end ending
	var all sync.WaitGroup
	all.Go(func() {
		// Watch yields the updates; Wait also returns if the run cannot go on in this process.
		if end.result, end.err = s.run.Wait(following); end.err != nil {
			giveUp(end.err)
		}
	})
	over := make(chan struct{})
	all.Go(func() {
		select {
		case <-over:
		case <-stops.first():
			end.interrupted = true
			s.stop(ctx, v)
		}
	})
	var unseen error
	for u, err := range s.run.Watch(following, 1) {
		if err != nil {
			unseen = err // still show the result
			break
		}
		v.Update(&u, u.Event.Seq > s.seen)
	}
	close(over)
	all.Wait()
	if unseen != nil && end.err == nil {
		s.log.logger().Warn("cannot show the progress of the run", "error", unseen)
	}
	if end.interrupted && errors.Is(end.err, coordinator.ErrShutdown) {
		end.err = nil // stop has shut the engine down
	}
	return end
}

// stop suspends the run. It cancels a run with a journal in memory, because that run could not be resumed.
func (s *session) stop(ctx context.Context, v view.View) {
	if s.dir != "" {
		v.Stopping("suspending the run (Ctrl-C again ends everything at once)")
		s.shutdown(ctx)
		return
	}
	v.Stopping("cancelling the run (Ctrl-C again ends everything at once)")
	if err := s.run.Cancel(ctx, "interrupted"); err != nil && !errors.Is(err, coordinator.ErrFinished) {
		s.log.logger().Error("cancel", "error", err)
	}
}

func (s *session) shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, graceTime)
	defer cancel()
	if err := s.engine.Shutdown(ctx); err != nil {
		s.log.logger().Error("shut the engine down", "error", err)
	}
}

// close shuts the engine down, with any calls that are still under way after the end of the run.
func (s *session) close() { s.shutdown(context.Background()) }

// ending is the result of following a run. With neither result nor err the run is suspended.
type ending struct {
	result      *coordinator.Result // nil: the run has not ended
	interrupted bool                // by a request to stop
	err         error               // the run cannot be followed to its end
	resume      string              // the command that resumes a suspended run
}

// onBlocked returns the policy for a playbook if all remaining tokens wait at gates: the run fails if its journal is in memory, since no
// other process could open the gates.
func (s *session) onBlocked() template.OnBlocked {
	if s.dir == "" {
		return template.BlockedFails
	}
	return template.BlockedWaits
}
