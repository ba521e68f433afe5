// Package feed lets many observers follow runs at once. It does not depend on the transport of frames: package httpapi sends them.
//
//	hub := feed.New(engine)
//	observer, err := hub.Run(ctx, "order-17", feed.Options{View: feed.Events, After: 128, Resume: true})
//	frame, err := observer.Next(ctx)      the changes since event 128, and then those that come; io.EOF after the run's end
//	observer.Close()
//
// # Cost
//
// Each observed run has one watcher, which derives its changes from the journal and encodes each once. An observer is a position, without
// a goroutine and without a queue: from the newest changes, which a bounded list holds for all observers, it takes at once all since its
// position. An observer that has fallen behind this list reads the journal until it has caught up. So no observer slows the run or
// another observer, even if its reader is slow, and changes are visible only once they are durable.
//
//	journal ──▶ watcher ──▶ newest changes, encoded ──▶ observer, observer, observer
//	   └──────────────────────────────────────────────▶ observer that is behind
//
// # Frames
//
// Of one run, in a View: a snapshot, unless the observer resumes; then updates, each with the events after the previous frame; a reset
// and a snapshot in place of events that the view does not need; at last the end. Their ids are sequences of the journal.
//
// Of all runs: at first a frame with only a place, behind which the observer lists the runs; then the heads of the changed runs, each
// with a greater sequence than before. Their ids are places of the change log, and each frame ends at the end of a commit, so an observer
// that resumes behind a frame receives each change exactly once. If the change log does not reach back far enough, a reset has the place
// behind which to list the runs anew.
package feed
