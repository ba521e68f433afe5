package bulk

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template"
)

// Bounds of acts.
const (
	RunsMax   = 1_000_000 // that one act chooses
	ReasonMax = 4096      // bytes
	KeptMax   = 100       // finished acts whose outcomes of each run are kept
	whyMax    = 256       // bytes of the reason of a refusal
)

// KeptTime is the time for which the outcomes of each run are kept.
const KeptTime = 30 * 24 * time.Hour

// Errors of acts. Methods wrap them.
var (
	ErrAct      = errors.New("bulk: the act is refused")
	ErrCount    = errors.New("bulk: the count has changed")
	ErrUnderWay = errors.New("bulk: another act is under way")
	ErrNotFound = errors.New("bulk: no such act")
)

// Act is a verb to be carried out on the runs that a query selects.
type Act struct {
	Verb   string // see Verbs
	Where  string // which runs, see package query; not empty
	Expect int    // number of runs that the query selects; in a preview, 0: unknown
	Reason string // in the words of the actor
	Actor  string // a person or a program

	Rerun    *rerun.Options     // of a rerun: the steps of each run that run again, and the changes; its At is 0
	Dir      string             // of a rerun: folder in which programs of the new runs start; "": that of each run
	Workflow *template.Workflow // of a move: the workflow under which the runs go on
	Entry    *registry.Entry    // of a move: in place of Workflow, its entry in the engine's Registry
	How      string             // of a Status: a summary of Rerun, Workflow and Entry, which it lacks
}

// CountError means that a query does not select the number of runs that was expected. It wraps ErrCount.
type CountError struct{ Expected, Count int }

func (e *CountError) Error() string {
	return fmt.Sprintf("%s: the query selects %s, not %d; nothing was done: preview it again", ErrCount, counted(e.Count, "run"), e.Expected)
}

// Unwrap returns ErrCount.
func (e *CountError) Unwrap() error { return ErrCount }

// OverlapError means that another act is under way on one of the runs. It wraps ErrUnderWay.
type OverlapError struct {
	Act uint64 // that is under way
	Run string // a run that both have chosen
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("%s: act %d has chosen run %s, too, and has not ended; wait for it, or stop it", ErrUnderWay, e.Act, e.Run)
}

// Unwrap returns ErrUnderWay.
func (e *OverlapError) Unwrap() error { return ErrUnderWay }

// check refuses an act with an invalid, missing or superfluous field.
func (a *Act) check(now time.Time) (*query.Query, *verb, error) {
	v, err := verbOf(a.Verb)
	if err != nil {
		return nil, nil, err
	}
	q, err := query.Parse(a.Where, now)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%w: query: %w", ErrAct, err)
	case q.String() == "":
		return nil, nil, fmt.Errorf("%w: the query is empty, and would select every run; say which runs, for example status:failed", ErrAct)
	case len(a.Reason) > ReasonMax:
		return nil, nil, fmt.Errorf("%w: the reason has %d bytes, at most %d are allowed", decide.ErrLimit, len(a.Reason), ReasonMax)
	case !utf8.ValidString(a.Reason):
		return nil, nil, fmt.Errorf("%w: the reason %q is not UTF-8", ErrAct, a.Reason[:min(len(a.Reason), 40)])
	}
	return q, v, errors.Join(limits.CheckActor(a.Actor), a.checkHow())
}

// State is the state of an act.
type State string

// The states.
const (
	Running   State = "running"   // it goes on
	Suspended State = "suspended" // no process works on it: the next engine that goes on with all runs resumes it, or the next act
	Completed State = "completed" // all its runs were asked
	Stopped   State = "stopped"   // a command stopped it
	Abandoned State = "abandoned" // a crash interrupted it before its choice of runs was complete: it has done nothing
)

// Status describes an act and its progress.
type Status struct {
	Act            // Expect is the number of runs that it has chosen
	ID      uint64 // its stream is `#bulk/<id>`
	State   State  // see there
	Began   int64  // Unix nanoseconds
	Ended   int64  // Unix nanoseconds; 0: not yet
	Done    int    // runs on which it acted
	Already int    // runs that were in the requested state already, or have ended meanwhile
	Refused int    // runs that have refused it
}

// Over reports whether the act has ended.
func (s *Status) Over() bool { return s.Ended != 0 }

// Left returns the number of runs that have not been asked.
func (s *Status) Left() int { return s.Expect - s.Done - s.Already - s.Refused }

// Result is the kind of an Outcome.
type Result string

// The results.
const (
	Done    Result = "done"    // as asked
	Already Result = "already" // it was in the requested state already, or has ended meanwhile
	Refused Result = "refused" // Outcome.Why has the reason
)

// Outcome is the result of an act for one run.
type Outcome struct {
	Run    string // id
	New    string // of a rerun that is done: id of the run that it has started
	Result Result // "": the run has not been asked
	Why    string // for people; "": the result says all
}

// plain returns the text of an error for people, without the names of packages and of the run.
func plain(run string, err error) string {
	text := strings.ReplaceAll(err.Error(), decide.ErrNotPossible.Error()+": ", "") // Refused says so already
	for _, known := range []error{decide.ErrFinished, decide.ErrParked, decide.ErrLimit, decide.ErrRunNotFound, decide.ErrStepNotFound, decide.ErrMissing} {
		if errors.Is(err, known) {
			_, short, _ := strings.Cut(known.Error(), ": ")
			text = strings.Replace(text, known.Error(), short, 1)
		}
	}
	text = strings.ReplaceAll(text, "run "+run+": ", "")
	return shortened(unnamed(text, run))
}

// unnamed replaces the name of a run in a text, so that a reason is the same text for each run.
func unnamed(text, run string) string {
	var b strings.Builder
	for name := "run " + run; ; {
		before, after, ok := strings.Cut(text, name)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if after == "" || strings.ContainsRune(" ,;:.", rune(after[0])) {
			b.WriteString("the run")
		} else {
			b.WriteString(name) // the id of another run, which only begins like it
		}
		text = after
	}
}

func shortened(text string) string {
	if len(text) > whyMax {
		text = strings.ToValidUTF8(text[:whyMax], "") + "…"
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// counted returns a number and its noun, in the plural unless it is 1.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
