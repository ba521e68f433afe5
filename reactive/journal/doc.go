// Package journal is the append-only log of events from which runs are computed, one stream per run.
//
//	Append(after=41, [CallResponded CallRequested]) ─▶ 43      Read(from=42) ─▶ 42 43      Tail = Read that waits
//
// A Store keeps streams: package memory in the process, package disk in a directory; package journaltest tests both for the
// same contract. Both are a ContentStore, too. All other state of a run is derived from its stream.
//
// # Streams
//
//	<run id>       the events of one run                       1 2 3 4 …    and a Head, which lists it
//	#…             a stream of no run: in no list and not in the change log
//	def/<hash>     a workflow, one ContentStored event         1
//	blob/<hash>    a large value, one ContentStored event      1
//	#wf/<name>     the definitions of a published name        1, 2, 3 …
//
// Sequences start at 1, grow by 1 per event within a stream, and are never reused. A batch is stored whole or not at all.
// The caller of Append passes the last sequence that it has read; if the stream ends at another, the append is a conflict and
// changes nothing. So of two writers of a stream, one always receives an error. Content is appended after 0: a conflict means
// that it is already stored.
//
// # Content and trims
//
// A run that lives for years needs snapshots. A ContentStore stores their parts beside the run's stream, as bytes under their
// SHA-256, and removes the events that a snapshot has replaced:
//
//	stream    1 ┄┄┄┄┄┄┄┄┄┄ 71 72 73 74 …     Trim(before=71): event 1 stays, and reading 2 to 70 is ErrTrimmed
//	content   {hash: bytes, …}               PutContent; durable with the next Append; SweepContent deletes the rest
//	head      Snapshot=73 First=71           Head; at most the newest snapshot is trimmed up to
//
// Trimmed events are distinguished from lost ones, which are ErrDamaged. A missing hash is ErrNotFound, since a store does not
// know the content that a run needs.
//
// # Encoding
//
// An event is one item of canonical CBOR (RFC 8949, section 4.2.1): a map with numbers for keys, without the fields that
// are empty. So equal events have equal bytes, and events can follow each other without lengths between them.
//
//	┌─────────┬──────┬─────┬────┬──────┬─────────┬─────────────────┬────────┐
//	│ version │ type │ seq │ at │ node │ attempt │ value or blob   │ detail │      about 30 bytes, the node's key
//	│    0    │  1   │  2  │ 3  │  4   │    5    │ 6: its encoding │   8    │      and the value
//	│         │      │     │    │      │         │ 7: its hash     │        │
//	└─────────┴──────┴─────┴────┴──────┴─────────┴─────────────────┴────────┘
//
// Value is a byte string with package value's encoding, or the SHA-256 of that when the store keeps it in a blob/ stream. In
// a text that is not UTF-8, U+FFFD replaces invalid bytes. The version is in each event, so that a stream can hold events of
// several versions. Events of a newer version are refused with ErrVersion, and bytes that no version wrote with ErrDamaged.
//
// # Cost
//
// On one core of a small cloud machine (BenchmarkCodec), for a call.requested without a value: 48 ns and no allocation to
// encode, 160 ns and one allocation to decode; encoding and decoding a value by package value is extra.
package journal
