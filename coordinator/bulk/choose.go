package bulk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Preview counts the runs of an act by their outcomes if it acted now.
type Preview struct {
	Verb    string         // of the act
	Where   string         // its query, as it was read
	Count   int            // runs that the query selects, which an act must expect
	Will    int            // runs on which the act would act
	Already int            // runs that are in the requested state already, or have ended
	Refused int            // runs that would refuse it
	Why     map[string]int // number of the Already and Refused runs by reason
	Steps   int            // of a retry: steps that would be asked again; of a rerun: steps that will run
	May     int            // of a rerun: steps that may run
	Kept    int            // of a rerun: steps whose result is kept
	Again   []Again        // of a retry or a rerun: the steps that would be asked again, or may be, and are not idempotent
}

// Again are steps of a workflow, not idempotent, that would be asked again.
type Again struct {
	Workflow string // name
	Step     string // key, without the numbers of items
	Count    int    // number of times
}

// target is a run that an act has chosen.
type target struct {
	run   string
	steps []string // of a retry: that have failed
}

// chosen are the runs that a query selects, with their previews.
type chosen struct {
	targets []target
	preview Preview
	again   map[Again]int
}

// choose selects the runs of an act, for a preview too. Without a preview it reads only heads; the rest is decided when the act gets
// to each run.
func (a *acts) choose(ctx context.Context, act *Act, preview bool) (*chosen, *verb, error) {
	q, v, err := act.check(time.Unix(0, a.engine.Now()))
	if err == nil {
		err = a.settle(act)
	}
	if err != nil {
		return nil, nil, err
	}
	c := &chosen{preview: Preview{Verb: v.name, Where: q.String(), Why: map[string]int{}}, again: map[Again]int{}}
	var heads []journal.Head
	for row, err := range q.Each(ctx, a.lists(), "") {
		if err != nil {
			return nil, nil, fmt.Errorf("select runs: %w", a.engine.ReadError(ctx, err))
		}
		if len(heads) == RunsMax {
			return nil, nil, fmt.Errorf("%w: the query selects more than %d runs, the most of one act; select fewer", decide.ErrLimit, RunsMax)
		}
		if row.Err != nil {
			row.Head.Status = ""
		}
		heads = append(heads, row.Head)
	}
	c.preview.Count = len(heads)
	found := a.examine(ctx, act, v, heads, preview || v.steps)
	for i := range found {
		if err := found[i].err; err != nil {
			return nil, nil, a.engine.ReadError(ctx, err)
		}
		c.add(v, &heads[i], &found[i])
	}
	for again, n := range c.again {
		again.Count = n
		c.preview.Again = append(c.preview.Again, again)
	}
	slices.SortFunc(c.preview.Again, func(a, b Again) int { return strings.Compare(a.Workflow+"\x00"+a.Step, b.Workflow+"\x00"+b.Step) })
	return c, v, nil
}

// lists is the store, as a query reads it.
func (a *acts) lists() query.Lister { return lister{a.store, a.engine} }

// lister lists runs and reports which are held.
type lister struct {
	query.Lister
	query.Holder
}

// examined is the preview of one run.
type examined struct {
	outcome Outcome
	steps   []string // that are chosen with the run
	again   []string // keys of steps that are not idempotent

	will, may, kept int // steps, see Preview

	err error // the engine is shutting down, or the caller no longer waits
}

// examine previews the outcomes of runs. If deep is true, also the outcomes that depend on journals, which several goroutines read.
func (a *acts) examine(ctx context.Context, act *Act, v *verb, heads []journal.Head, deep bool) []examined {
	found := make([]examined, len(heads))
	var all sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := range next {
				a.examineOne(ctx, act, v, heads[i].Run, &found[i])
			}
		})
	}
	for i := range heads {
		h, x := &heads[i], &found[i]
		if h.Status == "" {
			x.outcome = Outcome{Result: Refused, Why: "it cannot be read: sluice doctor says why"}
		} else if x.outcome = v.foresee(act, h, a.engine.Held(h.Run)); x.outcome.Result == "" && deep && v.examine != nil {
			next <- i
		}
	}
	close(next)
	all.Wait()
	return found
}

// examineOne previews the outcome of one run from its journal.
func (a *acts) examineOne(ctx context.Context, act *Act, v *verb, run string, x *examined) {
	err := usercode.Call(func() error { return v.examine(ctx, a, act, run, x) })
	if err == nil {
		return
	}
	if x.outcome = refusal(run, err); ctx.Err() != nil || errors.Is(err, decide.ErrShutdown) || errors.Is(err, journal.ErrClosed) {
		x.err = err
	}
}

// add counts a run.
func (c *chosen) add(v *verb, h *journal.Head, x *examined) {
	c.targets = append(c.targets, target{h.Run, x.steps})
	c.preview.Steps, c.preview.May, c.preview.Kept = c.preview.Steps+x.will, c.preview.May+x.may, c.preview.Kept+x.kept
	for _, key := range x.again {
		c.again[Again{Workflow: h.Name, Step: withoutItems(key)}]++
	}
	switch x.outcome.Result {
	case Already:
		c.preview.Already++
	case Refused:
		c.preview.Refused++
	default:
		c.preview.Will++
		return
	}
	c.preview.Why[x.outcome.Why]++
}

// withoutItems returns a key without the numbers of the items of maps.
func withoutItems(key string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(key, "[") {
		_, rest, ok := strings.Cut(part, "]")
		if !ok {
			rest = part
		}
		b.WriteString(rest)
	}
	return b.String()
}

// Reasons returns the reasons of a preview, the most frequent first.
func (p *Preview) Reasons() []string {
	return slices.SortedFunc(maps.Keys(p.Why), func(a, b string) int {
		if p.Why[a] != p.Why[b] {
			return p.Why[b] - p.Why[a]
		}
		return strings.Compare(a, b)
	})
}
