package coordinator

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// A child run is cancelled by the call that has started it, when that call is ended. There is no such call where the process
// has ended just then, or where somebody has stepped in while no engine went on with the parent: such children are orphans,
// and are cancelled from here.

const orphaned = "the call that started the run has ended"

// callOf is how a call is called outside its run: below the run's id, told apart by step, attempt and who is asked.
func callOf(c *call.Request) string {
	return c.Run + "/" + reactive.CallName(c.Node, c.Attempt, c.Participant, c.Decision)
}

// childOf is the id of the run that a call starts: the call's, the same whenever it is made again. Where that is too long for
// a run so many generations down, a hash takes the place of what the call is called in its run.
func childOf(c *call.Request) string {
	id := callOf(c)
	if len(id) <= template.IDBytesMax+generation(id)*hashedBytes {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return c.Run + "/~" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// hashedBytes is how much longer a child's id is than its parent's when it ends in a hash.
const hashedBytes = 24

// generation is how many runs are above the one with that id.
func generation(id string) int { return strings.Count(id, "/") }

// children are the ids of the runs that a run's open calls have started, or will.
func (r *run) children() map[string]bool {
	ids := map[string]bool{}
	root := r.root
	if root.Finished() != nil || len(r.entry.Performers) == 0 {
		return ids
	}
	for _, call := range r.host.Children(root.OpenCalls()) {
		ids[childOf(&call)] = true
	}
	return ids
}

// ward notes the children among unfinished runs for their parents to look at, and gives, by parent, those whose parents do not
// go on here.
func (e *Engine) ward(open []journal.Head) map[string][]string {
	goesOn := make(map[string]bool, len(open))
	for _, head := range open {
		goesOn[head.Run] = true
	}
	alone := map[string][]string{}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, head := range open {
		switch parent := journal.ParentRun(head.Run); {
		case parent == "":
		case goesOn[parent]:
			e.wards[parent] = append(e.wards[parent], head.Run)
		default:
			alone[parent] = append(alone[parent], head.Run)
		}
	}
	return alone
}

// disown cancels the children that were found unfinished and that no call of the run waits for. A child that has finished cannot
// be reopened, so none of them has answered.
func (r *run) disown() {
	e := r.engine
	e.mu.Lock()
	found := e.wards[r.id]
	delete(e.wards, r.id)
	e.mu.Unlock()
	if len(found) == 0 {
		return
	}
	wanted := r.children()
	for _, id := range found {
		if !wanted[id] {
			e.cancelOrphan(id)
		}
	}
}

// disownAlone cancels the unfinished children of a run that has finished. A run that has not may go on elsewhere.
func (e *Engine) disownAlone(ctx context.Context, parent string, found []string) error {
	end, err := e.reader.Ending(ctx, parent)
	if err != nil || end.Result == nil {
		return err
	}
	for _, id := range found {
		e.cancelOrphan(id)
	}
	return nil
}

// cancelOrphan cancels a run, and returns before that is durable.
func (e *Engine) cancelOrphan(id string) {
	e.loops.Go(func() {
		err := (&Run{engine: e, id: id}).Cancel(e.ctx, orphaned)
		if err != nil && !errors.Is(err, ErrFinished) && !errors.Is(err, ErrShutdown) && e.ctx.Err() == nil {
			e.config.Logger.Warn("cannot cancel a child run", "run", id, "error", err)
		}
	})
}

// noteOrphans cancels the runs that calls have started which a wish has ended, where no engine goes on with them.
func (e *Engine) noteOrphans(ctx context.Context, before, after map[string]bool) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if after[id] {
			continue
		}
		err := (&Run{engine: e, id: id}).Cancel(ctx, orphaned)
		if err != nil && !errors.Is(err, ErrFinished) && !errors.Is(err, ErrRunNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
