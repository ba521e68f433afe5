// Package memory is the journal's store without a disk: for runs that need not outlive their process, and for tests.
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
// It keeps every promise of journal.Store except that nothing survives the process. Values, details and labels are shared
// with the caller of Append, and must not be changed afterwards. Each stream has its own lock, held for the copy of a
// batch; readers hold it for a moment and then walk what can no longer change. A Tail that has caught up costs one
// goroutine's wait, its caller's, and no timer. Streams are never dropped: a store is as large as what went into it.
package memory
