// Package memory implements the journal's store in memory, for runs that need not outlive their process, and for tests.
//
//	s := memory.New()
//	defer s.Close()
//	last, err := s.Append(ctx, "run-1", 0, events, head)
//
// Events are stored unencoded, in chunks that are filled in place:
//
//	stream ─▶ [8] [16] [32] … [1024] [1024] [1024 …        72 bytes an event; an append is a copy of the batch
//	                                       ▲ last
//
// # Contracts
//
// The store fulfills the contract of journal.Store, except that nothing survives the process. It shares values, details and
// labels with the caller of Append, who must not change them afterwards. Each stream has its own lock, held while a batch is
// copied; readers hold it briefly and then read events that no longer change. A Tail that has caught up blocks its caller's
// goroutine and uses no timer. Streams are never dropped: a store only grows, except that Trim, SweepContent, Delete and
// SweepStreams remove events and content. PutContent and Content copy content, so no caller can change the stored copy.
package memory
