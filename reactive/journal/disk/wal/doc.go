// Package wal writes the log of a Pebble database, in Pebble's format, on the goroutine that commits.
//
//	log := wal.New(files, dir)                    a database that was opened with DisableWAL
//	err := log.Append(batch.Repr(), true)         one write, one sync: the batch is durable
//	err = db.Apply(batch, pebble.NoSync)          and only now visible
//
// Pebble itself writes and syncs its log on a goroutine of its own, so that each commit waits for two hand-overs between threads,
// which cost more than the disk where other work competes for the processor. It reads any log in the directory of the database
// when that is opened, with or without DisableWAL: so recovery, read-only opening and the detection of damage remain Pebble's.
//
// # Order
//
// Pebble keeps what it reads from a log under the sequence numbers that it had. Logs that are there must therefore be the newest
// ones without a gap: then each key that they hold has its newest value there too, and it does not matter how much of it tables
// hold already. Logs are removed from the oldest on, once tables hold all that is in them, and each removal is durable before the
// next begins.
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
