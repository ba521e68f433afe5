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
	First    uint64            // sequence of the event after the gap that Trim has left behind event 1; 0: none; set by the store
}

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
)
