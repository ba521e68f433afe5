package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
)

// ErrAhead is the error about an observer that is to resume behind the newest event, or at an invalid place.
var ErrAhead = errors.New("feed: there is no such place")

// ErrNotShown is the error about an observer that asks for parts that its view does not show.
var ErrNotShown = errors.New("feed: it cannot be shown")

// replayMax bounds the events that a resuming observer of steps reads. An observer further behind receives a snapshot.
const replayMax = 5000

// Sequence reads an id of the feed of one run: the event behind which it is resumed. "": from its start.
func Sequence(id string) (after uint64, resume bool, err error) {
	switch after, err = strconv.ParseUint(id, 10, 64); {
	case id == "":
		return 0, false, nil
	case strings.HasPrefix(id, idMark):
		return 0, false, fmt.Errorf("%w: the id %q is of a feed of several runs: ids of the feed of one are numbers of events", ErrAhead, id)
	case err != nil:
		return 0, false, fmt.Errorf("%w: the id %q is no number of an event", ErrAhead, id)
	}
	return after, true, nil
}

// Observer follows one run. It belongs to one goroutine.
type Observer struct {
	hub   *Hub
	run   *coordinator.Run
	topic *topic
	least uint64 // sequence of the newest event when it began: an end of the run before that is not shown
	wants wants
	pos   uint64 // sequence of the last event that was shown
	begun bool   // it needs no snapshot
	ended bool

	next func() (coordinator.Update, error, bool) // reads the journal while it is behind the ring; nil: it is not
	done func()
	held *fragment // that did not fit in the frame before
}

// Next returns the next frame, as soon as there is one. After the run's end it returns io.EOF. If ctx ends, it returns
// the error of ctx, and can be called again.
func (o *Observer) Next(ctx context.Context) (Frame, error) {
	for {
		f, grown, err := o.poll(ctx)
		if err != nil || grown == nil {
			return f, err
		}
		if err := o.hub.await(ctx, grown); err != nil {
			return Frame{}, err
		}
	}
}

// poll returns the next frame, or a channel to wait on.
func (o *Observer) poll(context.Context) (Frame, <-chan struct{}, error) {
	for {
		if o.next != nil {
			if f, err := o.replay(); err != nil || f.Data != nil {
				return f, nil, err
			}
		}
		if o.outlived() {
			o.rejoin()
		}
		f, grown, err := o.shared()
		if err != nil || f.Kind != "" || grown != nil { // otherwise it is behind, and has begun to read the journal
			return f, grown, err
		}
	}
}

// shared returns the next frame of the topic, or a channel to wait on. It returns neither if the observer is behind.
func (o *Observer) shared() (Frame, <-chan struct{}, error) {
	t := o.topic
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.snapshot.Seq
	switch {
	case last < t.ready && t.err == nil:
		return Frame{}, t.waiting(), nil
	case !o.begun && last > 0:
		return o.snapshot()
	case o.wants.view != Events && o.pos < t.moved: // the steps are those of another workflow
		return o.reset(), nil, nil
	case o.pos < t.first && last > o.pos:
		return o.catchUp(last)
	case o.pos < last:
		f := t.since(o.pos, &o.wants)
		o.pos = f.last
		return f, nil, nil
	}
	return o.end()
}

// outlived reports whether the topic ended with the run, which was opened again before the observer came.
func (o *Observer) outlived() bool {
	o.topic.mu.Lock()
	defer o.topic.mu.Unlock()
	return errors.Is(o.topic.err, io.EOF) && o.topic.snapshot.Seq < o.least
}

// rejoin leaves the topic and joins the new topic of the run.
func (o *Observer) rejoin() {
	o.hub.retire(o.topic)
	o.hub.leave(o.topic)
	o.topic = o.hub.join(o.run, o.least)
}

// changeOrEnd returns a channel that the next change closes; nil: there will be none.
func (o *Observer) changeOrEnd() <-chan struct{} {
	o.topic.mu.Lock()
	defer o.topic.mu.Unlock()
	if o.topic.err != nil {
		return nil
	}
	return o.topic.waiting()
}

// endFrame returns the frame at the end of a run that does not go on, even if there are more changes, and io.EOF behind it.
func (o *Observer) endFrame() (Frame, error) {
	o.topic.mu.Lock()
	defer o.topic.mu.Unlock()
	f, _, err := o.end()
	return f, err
}

// end returns the frame at the end of the run, and io.EOF behind it; or a channel to wait on. The caller holds the lock of the topic.
func (o *Observer) end() (Frame, <-chan struct{}, error) {
	t := o.topic
	switch {
	case t.err == nil:
		return Frame{}, t.waiting(), nil
	case errors.Is(t.err, io.EOF) && !o.ended:
		o.ended = true
		return Frame{Kind: KindEnd, ID: strconv.FormatUint(o.pos, 10), Data: []byte(`{"status":` + strconv.Quote(t.snapshot.Status) + `}`)}, nil, nil
	}
	return Frame{}, nil, t.err
}

// snapshot returns the frame with the snapshot.
func (o *Observer) snapshot() (Frame, <-chan struct{}, error) {
	f, err := o.topic.frame(&o.wants)
	if err == nil {
		o.pos, o.begun = o.topic.snapshot.Seq, true
	}
	return f, nil, err
}

// catchUp begins to read the journal, or announces a snapshot.
func (o *Observer) catchUp(last uint64) (Frame, <-chan struct{}, error) {
	if o.wants.view != Events && last-o.pos > replayMax {
		return o.reset(), nil, nil
	}
	ctx, stop := context.WithCancel(o.hub.ctx)
	next, done := iter.Pull2(o.run.History(ctx, o.pos+1))
	o.next, o.done = next, func() { stop(); done() }
	return Frame{}, nil, nil
}

// reset announces a snapshot.
func (o *Observer) reset() Frame {
	o.begun = false
	return Frame{Kind: KindReset, ID: strconv.FormatUint(o.pos, 10), Data: []byte(`{}`)}
}

// replay returns the next frame from the journal; a frame without data if the journal has no more.
func (o *Observer) replay() (Frame, error) {
	var list []fragment
	size := 0
	if o.held != nil {
		list, o.held = append(list, *o.held), nil
		size = o.wants.size(&list[0])
	}
	for size < frameBytes && len(list) < ringEvents {
		u, err, more := o.next()
		if !more {
			o.endReplay()
			break
		}
		if err != nil {
			return Frame{}, err
		}
		f, err := fragmentOf(o.topic.run.ID(), &u)
		if err != nil {
			return Frame{}, err
		}
		if size += o.wants.size(&f); size > frameBytes && len(list) > 0 {
			o.held = &f
			break
		}
		list = append(list, f)
	}
	if len(list) == 0 {
		return Frame{}, nil
	}
	f := joined(&o.wants, o.pos, list)
	o.pos = f.last
	return f, nil
}

func (o *Observer) endReplay() {
	o.done()
	o.next, o.done = nil, nil
}

// Close ends the observer.
func (o *Observer) Close() {
	if o.next != nil {
		o.endReplay()
	}
	o.hub.leave(o.topic)
}
