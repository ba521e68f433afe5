// Package sluice runs workflows: graphs of calls that must not get lost. Every call leaves events in an append-only
// journal; a graph of signals, derived from the journal and from nothing else, says what each step's status is and what
// may start; a coordinator makes it happen. Nothing has to be installed: the journal is a directory.
//
// The rooms of the house, in reading order:
//
//	template              what a workflow is: documents, the Go builder, validation
//	coordinator           the engine: start, wait, watch, step in
//	coordinator/operation what steps call: Go functions, commands, HTTP
//	reactive              journal ─▶ statuses, the pure half
//	reactive/journal      events and their stores
//	signals               fine-grained reactivity, usable alone
//	dag                   compact graphs, usable alone
//
// A call that was requested and has no answer when the process dies is requested again with the same request id and
// idempotency key: at least once, and exactly once for operations that honour the key. A call that has an answer is
// never made again.
package sluice
