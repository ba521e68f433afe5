// Package wal writes the log of a Pebble database, in Pebble's format, on the goroutine that commits.
//
//	log := wal.New(db, files, dir, fileMax)       of a database that was opened with DisableWAL
//	found, err := log.Replay()                    what a crash has left
//	err = log.Apply(batch, true)                  one write, one sync: the batch is durable; only then visible
//
// Pebble itself writes and syncs its log on a goroutine of its own, so that each commit waits for two hand-overs between threads,
// which cost most where other work competes for the processor. The format is Pebble's, and so is the reader, with what it tells of
// damage. A database that is opened for reading only, with this directory as its WALDir, applies the log itself, in memory.
//
// # Order
//
// Files are removed from the oldest on, once tables hold all that is in them, and each removal is durable before the next begins. So
// those that a crash leaves are the newest without a gap, and each key in them has its newest value there: it does not matter how
// much of them tables hold already. Replay gives the batches new sequence numbers, because Pebble does not merge tables that hold
// one number twice. The numbers in the log are those that the batches have in the database, for one that is opened for reading.
//
// # Format
//
// A log consists of blocks of 32 KiB, a block of chunks, and a record of one chunk or several. What remains of a block and is too
// small for the header of a chunk is zero. All numbers are little-endian.
//
//	┌─────────────────┬──────────┬──────────┬────────────────┬────────────┬─────────┐
//	│ CRC-32C, mixed  │ size (2) │ kind (1) │ log number (4) │ synced (8) │ payload │
//	│ (4) of the rest │          │          │                │            │         │
//	└─────────────────┴──────────┴──────────┴────────────────┴────────────┴─────────┘
//
// The checksum does not cover the size. Kind says whether the payload is a whole record, or the first, a middle or the last part of
// one. The number of the log tells its chunks from those of a file that was used before. Synced is how far the log was synced when
// the chunk was written: before that, nothing a crash does can have damaged it. A log that is complete ends with a chunk that has
// no payload, and the number of the next log. Behind the newest log's end there are zeros.
package wal
