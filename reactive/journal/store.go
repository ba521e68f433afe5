package journal

import (
	"context"
	"errors"
	"iter"
)

// Store keeps streams of events: one per run (named by the run's id), one per definition (`def/<hash>`), per large value
// (`blob/<hash>`) and per published name of a workflow (`#wf/<name>`). It is safe for concurrent use. Package journaltest tests implementations against the contract in these
// comments.
type Store interface {
	// Append stores events as one batch directly after sequence after (0 for an empty stream) and returns the last
	// sequence written: the events' Seq become after+1 …. head, when not the zero Head, replaces the stream's head in
	// the same batch. When Append returns nil, the batch survives the death of the process and of the machine (as far
	// as the store promises that). It returns ErrConflict if the stream's last sequence is not after, ErrReadOnly when
	// the store takes no more writes, ErrClosed after Close, and ErrTooLarge for more bytes than it takes at once: one event
	// with a value of 32 MiB it takes, and of a larger batch each half may fit. Append keeps no reference to the events slice.
	Append(ctx context.Context, stream string, after uint64, events []Event, head Head) (last uint64, err error)

	// Read yields the events of a stream from sequence from (1 is the first) to the last one stored now. An unknown
	// stream yields nothing. A damaged record ends it with ErrDamaged: it is never served.
	Read(ctx context.Context, stream string, from uint64) iter.Seq2[Event, error]

	// Tail returns Read that waits for more instead of ending; it ends when ctx does, with ctx's error.
	Tail(ctx context.Context, stream string, from uint64) iter.Seq2[Event, error]

	// Heads yields the heads of all runs whose id is greater than after, in order of id. A head that is damaged, or written
	// by a newer version, is yielded as the run's id alone, with an error that wraps ErrDamaged or ErrVersion, and the
	// iteration continues; an error without an id ends it.
	Heads(ctx context.Context, after string) iter.Seq2[Head, error]

	// List yields the heads that a query selects, newest first, and continues after heads that cannot be read as Heads does: of
	// those the id and the instant in the index are known. It is for people; an engine that goes on with runs needs ByStatus,
	// ByChild and ByDue. Each head is as it was at some moment of the iteration.
	List(ctx context.Context, q Query) iter.Seq2[Head, error]

	// Changes yields which runs have changed since a place, in order, up to the last change when it starts: every run that has
	// changed since then at least once, with a sequence that is at least that of its last event then. It returns ErrGap if the
	// store does not know any more which runs have changed since, or the place is of another store: a caller then lists the runs anew.
	// Content streams are not in it.
	Changes(ctx context.Context, after Place) iter.Seq2[Change, error]

	// Newest returns the place behind all changes so far: a list that is read from now on includes them.
	Newest(ctx context.Context) (Place, error)

	// AwaitChange returns when there may be a change behind a place, such as the one that Newest has returned, or with ctx's error.
	AwaitChange(ctx context.Context, after Place) error

	// Published yields the names of workflows that have a stream (see NameStream) and begin so, in order.
	Published(ctx context.Context, begun string) iter.Seq2[string, error]

	// Delete removes the events, the content and the head of a run. A tombstone stays: until its id is free, appending to it and
	// reading it return a *DeletedError, which wraps ErrDeleted, and so does deleting it again. Then an append after 0 of an event
	// that was decided when the id was free begins the stream anew. Delete returns ErrNotFound for a stream without events, and
	// ErrInvalid for an open run and a content stream. When it returns nil, the run is durably gone; large values and definitions,
	// which other runs may share, stay: see SweepStreams.
	Delete(ctx context.Context, stream string, t Tombstone) error

	// Size returns about how many bytes the events and the content of a stream take, without the large values that are streams of
	// their own. It is 0 for a stream without events.
	Size(ctx context.Context, stream string) (int64, error)

	// SweepStreams deletes the content streams to which no event refers, and the tombstones of ids that are free. It spares
	// content that is appended at the same time, and content to which an event refers that is appended at the same time, also if
	// the content was stored before. If an event cannot be read, its references are unknown: SweepStreams then returns the error,
	// and has deleted tombstones at most. After another error it may have deleted a part. Deleted streams and tombstones may be
	// there again after a crash.
	SweepStreams(ctx context.Context, s *StreamSweep) error

	// Rebuild makes all indexes anew from the heads, and starts the change log afresh: places from before are ErrGap.
	Rebuild(ctx context.Context) error

	// Close finishes the appends under way and ends all readers. Every later use returns ErrClosed; closing again does
	// nothing.
	Close() error
}

// Head is the data of a run that listing runs and waking a sleeping run need. It is derived from the stream and can be
// rebuilt from it.
type Head struct {
	Run      string            // id: the name of the stream
	Workflow string            // hash
	Name     string            // of the workflow
	Status   string            // of the run, as derived when the head was written
	Last     uint64            // sequence of the last event; set by the store
	Started  int64             // Unix nanoseconds
	Updated  int64             // Unix nanoseconds: At of the last event
	Due      int64             // when a timer is due next, Unix nanoseconds; 0: none
	Open     bool              // not finished: to be recovered at the next start
	Labels   map[string]string // as the run was started with
	Snapshot uint64            // sequence of the newest snapshot; 0: none
	Kind     string            // of the workflow: Workflow, Playbook or World; "": written by a program that did not know it
	Waits    []Wait            // the waits of the open run, at most WaitsMax. A running one may wait for workers
	Done     int               // steps that have completed or were skipped; it may lag while the run is busy
	Total    int               // steps that are known so far
	Failed   int               // steps that have failed or were aborted
	Code     string            // of the failure with which the run has ended; "": none
	Ended    int64             // Unix nanoseconds; 0: it has not
	Moved    uint64            // sequence of the event that moved the run to its workflow, or to child workflows of it; 0: it was started with them
	First    uint64            // sequence of the event after the gap that Trim has left behind event 1; 0: none; set by the store
}

// Wait is something that a run waits for.
type Wait struct {
	Kind  string // a Wait… constant
	Name  string // of the message, or of the person who decides; "": unknown, or the kind has none
	Step  string // key of the step, or address of the cell; "": the run
	Until int64  // when it is given up, or over, in Unix nanoseconds; 0: never
}

// Kinds of waits.
const (
	WaitMessage = "message"
	WaitPerson  = "person"
	WaitTimer   = "timer"
	WaitGate    = "gate"   // of a playbook
	WaitPaused  = "paused" // the run was paused
	WaitWorker  = "worker" // Name: of an operation. No worker takes the call of Step, which is ready; the process that drove the run knew
)

// WaitsMax bounds the waits in a head.
const WaitsMax = 8

// Errors of a Store.
var (
	ErrConflict = errors.New("journal: the stream has moved on")
	ErrReadOnly = errors.New("journal: the store is read-only")
	ErrDamaged  = errors.New("journal: damaged record")
	ErrClosed   = errors.New("journal: the store is closed")
	ErrTooLarge = errors.New("journal: the batch is too large")
	ErrLocked   = errors.New("journal: another process has the directory open")
	ErrNotFound = errors.New("journal: not found")
	ErrTrimmed  = errors.New("journal: the events are trimmed")
	ErrBackup   = errors.New("journal: no backup is made there") // the directory cannot take one
)
