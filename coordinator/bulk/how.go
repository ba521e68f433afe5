package bulk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// The verbs that have options, or that some kinds of runs refuse.
const (
	verbRerun = "rerun"
	verbMove  = "move"
	verbRetry = "retry"
)

// summaryMax bounds Status.How, in bytes.
const summaryMax = 512

// checkHow refuses an act that lacks an option of its verb, or has one that its verb does not take.
func (a *Act) checkHow() error {
	fault := ""
	switch {
	case a.Rerun != nil && a.Verb != verbRerun:
		fault = fmt.Sprintf("to %s has nothing run again: %q does", a.Verb, verbRerun)
	case a.Dir != "" && a.Verb != verbRerun:
		fault = fmt.Sprintf("to %s takes no folder", a.Verb)
	case (a.Workflow != nil || a.Entry != nil) && a.Verb == verbRerun:
		fault = "the workflow of a rerun is said with what runs again"
	case (a.Workflow != nil || a.Entry != nil) && a.Verb != verbMove:
		fault = fmt.Sprintf("to %s takes no workflow", a.Verb)
	case a.Verb == verbMove && a.Workflow == nil && a.Entry == nil:
		fault = "under which workflow do the runs go on? name it"
	case a.Verb == verbRerun && a.Rerun == nil:
		fault = "say what runs again: from a step, only a step, what failed, or what changed"
	case a.Verb == verbRerun && a.Rerun.At != 0:
		fault = fmt.Sprintf("event %d is another moment in each run: a rerun of many runs keeps the results as of their last events", a.Rerun.At)
	case a.Verb == verbRerun:
		if err := a.Rerun.Check(); err != nil {
			fault = strings.TrimPrefix(err.Error(), decide.ErrNotPossible.Error()+": ")
		}
	}
	if fault != "" {
		return fmt.Errorf("%w: %s", ErrAct, fault)
	}
	return nil
}

// settle compiles the workflow of an act, if it has one, and copies the options of the act, so that others cannot change them.
func (a *acts) settle(act *Act) (err error) {
	workflow, entry := act.Workflow, act.Entry
	if act.Rerun != nil {
		what := *act.Rerun
		workflow, entry, what.Workflow = what.Workflow, what.Entry, nil
		if what.Input, err = value.Own(what.Input); err != nil {
			return fmt.Errorf("%w: input: %w", ErrAct, err)
		}
		if what.Set, err = value.OwnMembers(what.Set); err != nil {
			return fmt.Errorf("%w: set: %w", ErrAct, err)
		}
		act.Rerun = &what
	}
	if entry == nil && workflow != nil {
		if entry, err = a.engine.Learn(workflow); err != nil {
			return err
		}
	}
	if entry != nil && entry.Missing != nil {
		return fmt.Errorf("workflow %s: %w", entry.Plan.Workflow.Name, entry.Missing)
	}
	act.Workflow = nil
	act.setEntry(entry)
	act.How = act.summary()
	return nil
}

// entry returns the workflow of a move, or the new workflow of a rerun; nil: there is none.
func (a *Act) entry() *registry.Entry {
	if a.Rerun != nil {
		return a.Rerun.Entry
	}
	return a.Entry
}

func (a *Act) setEntry(e *registry.Entry) {
	if a.Rerun != nil {
		a.Rerun.Entry = e
	} else {
		a.Entry = e
	}
}

// summary returns How: a summary of the options of an act.
func (a *Act) summary() string {
	var words []string
	if r := a.Rerun; r != nil {
		for _, one := range []struct {
			word string
			is   bool
		}{{"from " + r.From, r.From != ""}, {"only " + r.Only, r.Only != ""}, {"failed", r.Failed}, {"changed", r.Changed}, {"input", r.NewInput()}} {
			if one.is {
				words = append(words, one.word)
			}
		}
		for _, place := range slices.Sorted(maps.Keys(r.Set)) {
			words = append(words, "set "+place)
		}
	}
	if e := a.entry(); e != nil {
		words = append(words, fmt.Sprintf("workflow %s %.12s", e.Plan.Workflow.Name, e.Plan.Hash))
	}
	text := strings.Join(words, ", ")
	if len(text) > summaryMax {
		text = strings.ToValidUTF8(text[:summaryMax], "") + "…"
	}
	return text
}

// how returns the record of an act's options besides its verb and its query, if it has any.
func (a *Act) how(now int64, children map[string]string) []journal.Event {
	var said any
	d := journal.Detail{}
	if r := a.Rerun; r != nil {
		m := map[string]any{"from": r.From, "only": r.Only, "failed": r.Failed, "changed": r.Changed, "set": r.Set, "dir": a.Dir}
		if r.NewInput() {
			m["input"] = r.Input
		}
		said = m
	}
	if e := a.entry(); e != nil {
		d.Start = &journal.Start{Workflow: e.Plan.Hash, Name: e.Plan.Workflow.Name, Version: e.Plan.Workflow.Version, Children: children}
	}
	if said == nil && d.Start == nil {
		return nil
	}
	return []journal.Event{record(recordHow, now, said, d)}
}

// decodeHow decodes the record, and returns the workflow that it names; nil: none.
func (a *Act) decodeHow(e *journal.Event) (*journal.Start, error) {
	start := e.Detail.Start
	if e.Value == nil && start != nil { // a move
		return start, nil
	}
	m, _ := e.Value.(map[string]any)
	input, given := m["input"]
	what := &rerun.Options{Input: input, Null: given && input == nil}
	var is [6]bool
	what.From, is[0] = m["from"].(string)
	what.Only, is[1] = m["only"].(string)
	what.Failed, is[2] = m["failed"].(bool)
	what.Changed, is[3] = m["changed"].(bool)
	what.Set, is[4] = m["set"].(map[string]any)
	a.Dir, is[5] = m["dir"].(string)
	if slices.Contains(is[:], false) {
		return nil, damaged(e)
	}
	a.Rerun = what
	return start, nil
}

// bundle makes the workflow of an act durable, and returns its children in the form of journal.Start.
func (a *acts) bundle(ctx context.Context, act *Act) (map[string]string, error) {
	e := act.entry()
	if e == nil {
		return nil, nil
	}
	children, err := a.registry.Bundle(ctx, e)
	return children, a.engine.ReadError(ctx, err)
}

// unbundle finds the workflow of an act again.
func (a *acts) unbundle(ctx context.Context, act *Act, start *journal.Start) error {
	if start == nil {
		return nil
	}
	e, err := a.registry.Read(ctx, start.Workflow, start.Children)
	if err == nil {
		act.setEntry(e)
	}
	return err
}

// missing returns the reason that the workflow of an act cannot run here.
func (a *Act) missing() error {
	if e := a.entry(); e != nil {
		return e.Missing
	}
	return nil
}

// newID returns the id of the run that repeats another in an act of reruns. It follows from the act and the run, so an act that goes on
// after a crash finds the runs that it has started.
func newID(act uint64, began int64, run string) string {
	sum := sha256.Sum256([]byte(strconv.FormatUint(act, 10) + "/" + strconv.FormatInt(began, 10) + "/" + run))
	return "rerun-" + hex.EncodeToString(sum[:16])
}
