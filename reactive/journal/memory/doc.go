// Package memory implements the journal's store in memory, for runs that need not outlive their process, and for tests.
//
//	s := memory.New()
//	defer s.Close()
//	last, err := s.Append(ctx, "run-1", 0, events, head)
//
// Events are kept as they are, unencoded, in chunks that are filled in place:
//
//	stream ─▶ [8] [16] [32] … [1024] [1024] [1024 …        72 bytes an event; an append is a copy of the batch
//	                                       ▲ last
//
// # Contracts
//
// It fulfills the contract of journal.Store except that nothing survives the process. Values, details and labels are shared
// with the caller of Append, and must not be changed afterwards. Each stream has its own lock, held while a batch is copied;
// readers hold it briefly and then read events that no longer change. A Tail that has caught up blocks its caller's
// goroutine and uses no timer. Streams are never dropped: a store only grows, but for the events and the content that Trim,
// SweepContent, Delete and SweepStreams remove. Content is copied on its way in and out, so no caller can change the kept copy.
package memory
