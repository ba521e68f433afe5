package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/internal/pace"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
	"github.com/sluiceflow/sluice/template/plan"
)

// Kind is the kind of record that has a fault.
type Kind string

// The kinds of records in a directory.
const (
	Database Kind = "database" // records that cannot be read at all
	Commit   Kind = "commit"   // the number of the last commit
	Event    Kind = "event"    // an event, or several in a row, of a run
	Content  Kind = "content"  // a definition, a large value, or content that a run keeps
	Run      Kind = "run"      // a run whose state cannot be derived from its events
	Head     Kind = "head"     // the head of a run, which lists show
	Index    Kind = "index"    // the order in which lists find runs
	Audit    Kind = "audit"    // the audit of a host that listens, which is apart from the journal
)

// Fault is one defect. Its texts hold ids as they are stored: sanitize them before printing to a terminal.
type Fault struct {
	Run     string `json:"run,omitempty"`     // id of the run; "": none, or all
	Content string `json:"content,omitempty"` // def/<hash>, blob/<hash>, or the hash of content that Run keeps; "": no content
	Kind    Kind   `json:"kind"`              // of the damaged record
	Event   uint64 `json:"event,omitempty"`   // sequence of the first event concerned; 0: none
	What    string `json:"what"`              // the defect: a clause without a period
	Means   string `json:"means"`             // the consequence for users of the run: a clause likewise
	Derived bool   `json:"derived"`           // the record follows from events, and can be rebuilt
	Mended  string `json:"mended,omitempty"`  // the rebuilt record, as a clause; "": none
}

// Report counts the records read and the faults found.
type Report struct {
	Runs     int `json:"runs"`     // including those that have only a head
	Events   int `json:"events"`   // readable ones, of runs
	Contents int `json:"contents"` // definitions, large values and content that runs keep
	Faults   int `json:"faults"`   // found, including those that were mended
	Derived  int `json:"derived"`  // faults of records that can be rebuilt
	Mended   int `json:"mended"`   // faults of records that were rebuilt

	// Incomplete has the runs whose import goes on or was interrupted: their records are sound, but incomplete.
	Incomplete []string `json:"incomplete,omitempty"`
}

// Sound reports whether there was no fault, or all were mended.
func (r *Report) Sound() bool { return r.Faults == r.Mended }

// How has the options of a check.
type How struct {
	Mend   bool // rebuild derived records; the directory must have been opened for it
	Beside bool // take a third of the time, because a process on this machine works on runs
}

// Check reads everything in a directory, and calls emit with each fault as it is found. It does not close raw. It returns early if
// ctx ends, if emit returns an error, or if the directory cannot be written, with that error and the counts so far.
func Check(ctx context.Context, raw *disk.Raw, how How, emit func(Fault) error) (Report, error) {
	d := &doctor{raw: raw, mend: how.Mend, emit: emit, plans: map[string]planned{}, holds: holds.New(nil)}
	if how.Beside {
		d.pace = pace.Resting(2)
	}
	err := d.commits()
	for name, unread := range raw.Streams(ctx) {
		switch {
		case err != nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case unread != nil:
			err = d.fault(Fault{Kind: Database, What: sentence(unread),
				Means: "its contents are lost unless there is a copy of the folder"})
		case journal.IsContent(name):
			err = d.content(ctx, name)
		case !journal.IsRun(name):
			err = d.otherStream(ctx, name)
		default:
			err = d.run(ctx, name)
		}
		if err = cmp.Or(err, d.pace.Rest(ctx)); err != nil {
			break
		}
	}
	if err == nil {
		err = d.indexes(ctx)
	}
	for _, run := range d.holds.Unfinished() {
		if _, absent := d.raw.Head(run); !errors.Is(absent, disk.ErrNoHead) && !errors.Is(absent, journal.ErrDeleted) {
			d.report.Incomplete = append(d.report.Incomplete, run)
		}
	}
	return d.report, err
}

// doctor checks one directory.
type doctor struct {
	raw    *disk.Raw
	mend   bool
	emit   func(Fault) error
	report Report
	plans  map[string]planned // by hash
	pace   pace.Pace
	holds  *holds.Holds // contents of the marks read
	heads  bool         // some heads differ from those that follow from the events
}

// planned is a compiled definition, or the error that prevents compiling it.
type planned struct {
	plan *plan.Plan
	err  error
}

// fault counts a fault and reports it.
func (d *doctor) fault(f Fault) error {
	d.report.Faults++
	if f.Derived {
		d.report.Derived++
		d.heads = d.heads || f.Kind == Head
	}
	if f.Mended != "" {
		d.report.Mended++
	}
	return d.emit(f)
}

// indexes compares the indexes with the heads, if these are right. Otherwise, indexes are rebuilt with the heads from which they follow,
// and are no separate fault.
func (d *doctor) indexes(ctx context.Context) error {
	if d.heads {
		return nil
	}
	wrong := d.raw.Indexes(ctx, d.pace.Rest)
	if wrong == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	f := Fault{Kind: Index, What: sentence(wrong), Derived: true, Means: "lists lack runs, and runs may not go on"}
	if d.mend {
		if err := d.raw.Rebuild(ctx); err != nil {
			return fmt.Errorf("make the indexes anew: %w", err)
		}
		f.Mended = "the indexes were made anew"
	}
	return d.fault(f)
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
		f.Means = "no process opens the folder; " + records.AcceptLoss
	}
	if d.mend && f.Derived {
		if err := d.raw.MendCommits(); err != nil {
			return fmt.Errorf("write the number of the last commit: %w", err)
		}
		f.Mended = "the number was made anew"
	}
	return d.fault(f)
}
