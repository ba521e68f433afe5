package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template/plan"
)

// Kind says what a fault is in.
type Kind string

// What there is in a directory.
const (
	Database Kind = "database" // records that cannot be read at all
	Commit   Kind = "commit"   // the number of the last commit
	Event    Kind = "event"    // an event, or several in a row, of a run
	Content  Kind = "content"  // a definition or a large value
	Run      Kind = "run"      // what follows from the events of a run cannot be derived
	Head     Kind = "head"     // what lists show of a run
)

// Fault is one thing that is wrong.
type Fault struct {
	Run     string `json:"run,omitempty"`     // whose; "" where it is nobody's or everybody's
	Content string `json:"content,omitempty"` // def/<hash> or blob/<hash>, where it is about that
	Kind    Kind   `json:"kind"`
	Event   uint64 `json:"event,omitempty"`  // sequence, where it begins at an event
	What    string `json:"what"`             // what is wrong, as a sentence
	Means   string `json:"means"`            // what that means for those who use the run
	Derived bool   `json:"derived"`          // it follows from events and can be made anew
	Mended  string `json:"mended,omitempty"` // what was changed; "" when nothing was
}

// Report says how much was looked at, and what came of it.
type Report struct {
	Runs     int `json:"runs"`
	Events   int `json:"events"`
	Contents int `json:"contents"` // definitions and large values
	Faults   int `json:"faults"`
	Derived  int `json:"derived"` // of the faults, those that can be made anew
	Mended   int `json:"mended"`  // of the faults, those that were made anew
}

// Sound reports whether nothing is wrong any more.
func (r *Report) Sound() bool { return r.Faults == r.Mended }

// Check looks at everything in a directory and tells every fault as it is found, those of one run together; with mend, for
// which raw must have been opened, it makes anew what is derived. Its error is of ctx, of tell, or says that the directory
// cannot be written; what was found until then stands in the report.
func Check(ctx context.Context, raw *disk.Raw, mend bool, tell func(Fault) error) (Report, error) {
	d := &doctor{raw: raw, mend: mend, tell: tell, plans: map[string]compiled{}}
	err := d.commits()
	for name, unread := range raw.Streams(ctx) {
		switch {
		case err != nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case unread != nil:
			err = d.fault(Fault{Kind: Database, What: sentence(unread),
				Means: "what stands there is lost unless there is a copy of the folder"})
		case journal.IsContent(name):
			err = d.content(ctx, name)
		default:
			err = d.run(ctx, name)
		}
		if err != nil {
			break
		}
	}
	return d.report, err
}

// doctor looks at one directory.
type doctor struct {
	raw    *disk.Raw
	mend   bool
	tell   func(Fault) error
	report Report
	plans  map[string]compiled // by hash
}

// compiled is a definition, or why it cannot be had.
type compiled struct {
	plan *plan.Plan
	err  error
}

func (d *doctor) fault(f Fault) error {
	d.report.Faults++
	if f.Derived {
		d.report.Derived++
	}
	if f.Mended != "" {
		d.report.Mended++
	}
	return d.tell(f)
}

// commits checks the number of the last commit.
func (d *doctor) commits() error {
	wrong := d.raw.Commits()
	if wrong == nil {
		return nil
	}
	f := Fault{Kind: Commit, What: sentence(wrong), Derived: true, Means: "no process can open the folder"}
	if errors.Is(wrong, disk.ErrLost) {
		f.Derived = false
		f.Means = "no process opens the folder; who removes the file COMMIT accepts it without what is lost"
	}
	if d.mend && f.Derived {
		if err := d.raw.MendCommits(); err != nil {
			return fmt.Errorf("write the number of the last commit: %w", err)
		}
		f.Mended = "the number was made anew"
	}
	return d.fault(f)
}
