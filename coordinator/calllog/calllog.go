// Package calllog keeps the output of running calls (programs of command bindings, and workers), so that readers can follow it.
//
//	program ──▶ redacted ──┬──▶ the end of it stays with the result, in the journal
//	                       └──▶ Logs: the newest 256 KiB of each run ──▶ reader, reader
//	worker ── give: log ─────────▲
//
// It is in memory only, and no part of a run's state: it ends with the process. A writer waits for no reader. If a reader is so slow that
// its place is no longer kept, it is notified, and goes on with the oldest entry that is kept.
package calllog

import (
	"container/list"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds in bytes: of the texts kept of one run, of all runs, of one entry, and of one reading.
const (
	RunMax   = 256 << 10
	AllMax   = 32 << 20
	entryMax = 32 << 10
	batchMax = 64 << 10
)

// entryCost is the memory of an entry besides its text.
const entryCost = 128

// Streams of a call.
const (
	Stdout = "stdout" // of a program
	Stderr = "stderr" // of a program
	Worker = "worker" // texts of a worker about the call
)

// ErrPlace is the error about a place that is not in these logs.
var ErrPlace = errors.New("calllog: invalid position")

// Entry is a part of the output of a call. The parts of a stream are consecutive; they may end within a line.
type Entry struct {
	At          time.Time `json:"at"`                    // when it was written
	Step        string    `json:"step"`                  // key
	Attempt     int32     `json:"attempt"`               // from 1
	Participant string    `json:"participant,omitempty"` // that was asked
	Stream      string    `json:"stream"`                // stdout, stderr or worker
	Text        string    `json:"text"`                  // without the secrets of the run

	number uint64 // ascending in all logs
}

func (e *Entry) size() int { return entryCost + len(e.Step) + len(e.Participant) + len(e.Text) }

// Batch holds the entries that a reader gets at once.
type Batch struct {
	Entries []Entry `json:"entries,omitempty"` // in the order in which they were written
	Lost    bool    `json:"lost,omitempty"`    // some entries between the batch before and this one are no longer kept
}

// Logs has the logs of the runs of an engine. It is safe for concurrent use.
type Logs struct {
	name string // distinguishes their places from those of another process

	mu      sync.Mutex
	runs    map[string]*log
	order   *list.List // of logs with entries, least recently written first
	bytes   int
	last    uint64 // number of the newest entry
	dropped uint64 // number of the newest entry of the logs that no longer exist
}

// log holds the output of the calls of one run.
type log struct {
	run     string
	entries []Entry
	bytes   int
	dropped uint64 // number of the newest entry that is no longer kept
	readers int
	grown   chan struct{} // closed by the next entry; nil: no reader waits
	place   *list.Element // in Logs.order; nil: it has no entries
}

// New returns logs without entries.
func New() *Logs {
	return &Logs{name: strings.ToLower(rand.Text()[:8]), runs: map[string]*log{}, order: list.New()}
}

// Write adds output of a call of a run. Text must be without secrets; too long a text becomes several entries.
func (l *Logs) Write(run string, e Entry) {
	for len(e.Text) > 0 {
		part := e
		part.Text, e.Text = cut(e.Text)
		l.add(run, part)
	}
}

// cut returns the beginning of a text for one entry, and the rest. It cuts no character.
func cut(text string) (first, rest string) {
	if len(text) <= entryMax {
		return text, ""
	}
	n := entryMax - partOfCharacter([]byte(text[entryMax-3:entryMax]))
	return text[:n], text[n:]
}

func (l *Logs) add(run string, e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	e.number = l.last
	of := l.of(run)
	of.entries = append(of.entries, e)
	of.bytes += e.size()
	l.bytes += e.size()
	for of.bytes > RunMax && len(of.entries) > 1 {
		l.drop(of)
	}
	if of.place == nil {
		of.place = l.order.PushBack(of)
	} else {
		l.order.MoveToBack(of.place)
	}
	for l.bytes > AllMax {
		oldest := l.order.Front().Value.(*log)
		if l.drop(oldest); len(oldest.entries) == 0 {
			l.order.Remove(oldest.place)
			oldest.place = nil
			l.forget(oldest)
		}
	}
	if of.grown != nil {
		close(of.grown)
		of.grown = nil
	}
}

// of returns the log of a run. The caller holds mu.
func (l *Logs) of(run string) *log {
	of := l.runs[run]
	if of == nil {
		of = &log{run: run}
		l.runs[run] = of
	}
	return of
}

// drop drops the oldest entry of a log. The caller holds mu.
func (l *Logs) drop(of *log) {
	e := &of.entries[0]
	of.bytes -= e.size()
	l.bytes -= e.size()
	of.dropped = e.number
	*e = Entry{} // its text is free at once
	of.entries = of.entries[1:]
}

// forget removes a log that has neither entries nor readers. The caller holds mu.
func (l *Logs) forget(of *log) {
	if len(of.entries) == 0 && of.readers == 0 {
		l.dropped = max(l.dropped, of.dropped)
		delete(l.runs, of.run)
	}
}

// Reader follows the log of one run. It belongs to one goroutine.
type Reader struct {
	logs *Logs
	log  *log
	step string
	of   string // mark of the run
	pos  uint64 // number of the last entry that was read
	lost bool   // to be reported with the next batch
}

// Read returns a reader of the output of a run's calls, or only of a step's: of its items, too, and of the calls of a playbook's
// step. It begins behind a place that Reader.Place has returned; "": with the oldest entry that is still kept. It must be closed.
func (l *Logs) Read(run, step, place string) (*Reader, error) {
	r := &Reader{logs: l, step: step, of: mark(run)}
	name, rest, resumed := strings.Cut(place, "-")
	if number, of, _ := strings.Cut(rest, "-"); resumed {
		var err error
		if r.pos, err = strconv.ParseUint(number, 10, 64); err != nil || name == "" {
			return nil, fmt.Errorf("%w: %q", ErrPlace, place)
		}
		if of != r.of {
			return nil, fmt.Errorf("%w: %q is of another run", ErrPlace, place)
		}
	} else if place != "" {
		return nil, fmt.Errorf("%w: %q", ErrPlace, place)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case resumed && name != l.name: // of a process that has ended
		r.pos, r.lost = 0, true
	case r.pos > l.last:
		return nil, fmt.Errorf("%w: %q lies ahead", ErrPlace, place)
	case resumed && l.runs[run] == nil:
		r.lost = r.pos < l.dropped
	}
	r.log = l.of(run)
	r.log.readers++
	return r, nil
}

// Next returns the next entries, or a channel that is closed when there are more.
func (r *Reader) Next() (b Batch, grown <-chan struct{}) {
	l := r.logs
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.lost = r.lost || r.pos < r.log.dropped; r.lost {
		b.Lost, r.lost = true, false
		r.pos = max(r.pos, r.log.dropped)
	}
	entries := r.log.entries
	from := sort.Search(len(entries), func(i int) bool { return entries[i].number > r.pos })
	for size := 0; from < len(entries) && size < batchMax; from++ {
		if e := &entries[from]; About(e.Step, r.step) {
			size += e.size()
			b.Entries = append(b.Entries, *e)
		}
		r.pos = entries[from].number
	}
	if len(b.Entries) > 0 || b.Lost {
		return b, nil
	}
	if r.log.grown == nil {
		r.log.grown = make(chan struct{})
	}
	return b, r.log.grown
}

// Place returns the place behind which another reader of the run goes on.
func (r *Reader) Place() string {
	return r.logs.name + "-" + strconv.FormatUint(r.pos, 10) + "-" + r.of
}

// mark identifies a run: the entries of all are numbered together.
func mark(run string) string {
	sum := fnv.New32a()
	sum.Write([]byte(run))
	return strconv.FormatUint(uint64(sum.Sum32()), 36)
}

// Close ends the reader.
func (r *Reader) Close() {
	r.logs.mu.Lock()
	defer r.logs.mu.Unlock()
	r.log.readers--
	r.logs.forget(r.log)
}

// About reports whether a call belongs to a step, an item of it, or a playbook's step of that name. All calls belong to "".
func About(call, step string) bool {
	rest, ok := strings.CutPrefix(call, step)
	return step == "" || ok && (rest == "" || strings.ContainsRune("@.[", rune(rest[0])))
}
