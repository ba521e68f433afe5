// Package feed lets many observers follow runs at once. It does not depend on the transport of frames: package httpapi sends them.
//
//	hub := feed.New(engine)
//	observer, err := hub.Run(ctx, "order-17", feed.Options{View: feed.Events, After: 128, Resume: true})
//	frame, err := observer.Next(ctx)      the changes since event 128, and then those that come; io.EOF after the run's end
//	observer.Close()
//
// # Cost
//
// Each observed run has one watcher, which derives its changes from the journal and encodes each once. An observer is a position,
// without a goroutine and without a queue: it takes from the newest changes, which a bounded list holds for all, as many at once as
// have come since it last asked. One that has fallen behind this list reads the journal until it has caught up. So no
// observer slows the run or another observer, however slow its reader is, and nothing is seen before it is durable.
//
//	journal ──▶ watcher ──▶ newest changes, encoded ──▶ observer, observer, observer
//	   └──────────────────────────────────────────────▶ observer that is behind
//
// # Frames
//
// Of one run, as a View says: a snapshot, unless the observer resumes; then updates, each with the events after those of the frame before it; a
// reset and a snapshot where the view has no use for the events between; at last the end. Their ids are sequences of the journal.
//
// Of all runs: at first a frame with a place and nothing else, behind which the observer lists the runs; then the heads of those that
// have changed, each run with a greater sequence than before. Their ids are places of the change log, and each frame ends with
// all of a commit, so that an observer that resumes behind a frame misses nothing and sees nothing twice. Where the change log does not
// reach back far enough, a reset has the place behind which to list the runs anew.
package feed
