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
	// sequence written: the events' Seq become after+1 …. head, if not the zero Head, replaces the stream's head in the same
	// batch. When Append returns nil, the batch is durable: it survives the death of the process and of the machine, if the
	// store promises that. Append returns ErrConflict if the stream's last sequence is not after, ErrReadOnly if the store
	// takes no more writes, ErrClosed after Close, and ErrTooLarge for a batch of too many bytes. A store accepts at least one
	// event with a value of 32 MiB; halves of a larger batch may fit. Append keeps no reference to the events slice.
	Append(ctx context.Context, stream string, after uint64, events []Event, head Head) (last uint64, err error)

	// Read yields the events of a stream from sequence from (1 is the first) to the last one stored now. An unknown
	// stream yields nothing. Read ends with ErrDamaged at a damaged record, and never yields one.
	Read(ctx context.Context, stream string, from uint64) iter.Seq2[Event, error]

	// Tail is like Read, but waits for more events instead of ending. It ends with ctx's error when ctx ends.
	Tail(ctx context.Context, stream string, from uint64) iter.Seq2[Event, error]

	// Heads yields the heads of all runs whose id is greater than after, in order of id. For a head that is damaged, or written
	// by a newer version, Heads yields only the run's id, with an error that wraps ErrDamaged or ErrVersion, and continues. An
	// error without an id ends the iteration.
	Heads(ctx context.Context, after string) iter.Seq2[Head, error]

	// List yields the heads that a query selects, newest first. Like Heads, it continues after heads that cannot be read, and
	// yields their ids and their instants in the index. It is for people; an engine that continues runs needs ByStatus, ByChild
	// and ByDue. Each head is as of some moment of the iteration.
	List(ctx context.Context, q Query) iter.Seq2[Head, error]

	// Changes yields the changes of runs since a place, in order, up to the last change at its start: it yields every changed run at
	// least once, with the sequence of its last event at its last change or later. It returns ErrGap if the store no longer has the
	// changes since the place, or if the place is of another store: a caller must then list the runs again. It does not yield content
	// streams.
	Changes(ctx context.Context, after Place) iter.Seq2[Change, error]

	// Newest returns the place behind all changes so far. A later list includes these changes.
	Newest(ctx context.Context) (Place, error)

	// AwaitChange waits until there may be a change behind a place, such as the result of Newest, or returns ctx's error.
	AwaitChange(ctx context.Context, after Place) error

	// Published yields, in order, the names of workflows that have a stream (see NameStream) and the prefix begun.
	Published(ctx context.Context, begun string) iter.Seq2[string, error]

	// Delete removes the events, the content and the head of a run and leaves a tombstone. Until the id is free, appending to the
	// stream, reading it and deleting it return a *DeletedError, which wraps ErrDeleted. After that, an append after 0 of an event
	// that was decided when the id was free begins the stream again. Delete returns ErrNotFound for a stream without events, and
	// ErrInvalid for an open run and a content stream. When it returns nil, the run is durably deleted. Large values and
	// definitions, which other runs may share, stay: see SweepStreams.
	Delete(ctx context.Context, stream string, t Tombstone) error

	// Size returns the approximate number of bytes of the events and the content of a stream, without the large values in content
	// streams. It is 0 for a stream without events.
	Size(ctx context.Context, stream string) (int64, error)

	// SweepStreams deletes the content streams to which no event refers, and the tombstones of free ids. It spares content that
	// is appended during the sweep, and earlier content to which an event appended during the sweep refers. If an event cannot be
	// read, its references are unknown: SweepStreams then returns the error, and has deleted only tombstones. After any other
	// error, it may have deleted a part. Deleted streams and tombstones may reappear after a crash.
	SweepStreams(ctx context.Context, s *StreamSweep) error

	// Rebuild rebuilds all indexes from the heads, and empties the change log: earlier places are ErrGap.
	Rebuild(ctx context.Context) error

	// Close finishes the appends in progress and ends all readers. Every later use returns ErrClosed; closing again does
	// nothing.
	Close() error
}

// Head is the data of a run for lists of runs and for waking a sleeping run. It is derived from the stream and can be rebuilt
// from it.
type Head struct {
	Run      string            // id: the name of the stream
	Workflow string            // hash
	Name     string            // of the workflow
	Status   string            // of the run, when the head was written
	Last     uint64            // sequence of the last event; set by the store
	Started  int64             // Unix nanoseconds
	Updated  int64             // Unix nanoseconds: At of the last event
	Due      int64             // instant of the next timer, Unix nanoseconds; 0: none
	Open     bool              // not finished, so the next start recovers it
	Labels   map[string]string // from the start of the run
	Snapshot uint64            // sequence of the newest snapshot; 0: none
	Kind     string            // of the workflow: Workflow, Playbook or World; "": written by a program that did not know it
	Waits    []Wait            // the waits of the open run, at most WaitsMax. A running one may wait for workers
	Done     int               // steps that have completed or were skipped; it may lag while the run is busy
	Total    int               // steps known so far
	Failed   int               // steps that have failed or were aborted
	Code     string            // of the failure that ended the run; "": none
	Ended    int64             // Unix nanoseconds; 0: it has not ended
	Moved    uint64            // sequence of the event that moved the run to its workflow, or to child workflows of it; 0: it was started with them
	First    uint64            // sequence of the event after the gap that Trim has left behind event 1; 0: none; set by the store
}

// Wait is one wait of a run.
type Wait struct {
	Kind  string // a Wait… constant
	Name  string // of the message, or of the person to decide; "": unknown, or the kind has none
	Step  string // key of the step, or address of the cell; "": the run
	Until int64  // its timeout or end, in Unix nanoseconds; 0: none
}

// Kinds of waits.
const (
	WaitMessage = "message"
	WaitPerson  = "person"
	WaitTimer   = "timer"
	WaitGate    = "gate"   // of a playbook
	WaitPaused  = "paused" // the run was paused
	WaitWorker  = "worker" // Name: the operation. No worker took the call of the ready Step in the process that drove the run
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
