// Package disk is the journal's store in a directory: durable, embedded, nothing to install. It is built on Pebble, with one committer in
// front of it.
//
//	s, err := disk.Open("data", disk.Config{})
//	defer s.Close()
//	last, err := s.Append(ctx, "run-1", 0, events, head)      returns when the batch is on the disk
//
//	callers            committer (one goroutine at a time)       directory
//	Append ─ encode ─┐
//	Append ─ encode ─┼▶ queue ─▶ check ─▶ one batch ─▶ one sync ─▶ db/       Pebble: log and tables; see package commitlog
//	Append ─ encode ─┘                        │                    COMMIT    number of the last commit
//	   ▲                                      │                    VERSION   of this layout
//	   └────────── answers to all ◀───────────┘                    LOCK      held by one process
//
// A sync takes about as long for a thousand appends as for one, so all queued appends share one sync: the cost of each append falls
// with the number of waiting callers.
//
// # Contracts
//
// Durability: an acknowledged append survives the death of the process and of the machine, if the disk keeps synced data. Readers
// yield only synced events. An append that fails because a write or a sync failed may or may not be stored when the directory is
// opened again, whole in either case; the store takes no writes until then.
//
// Content: PutContent, SweepContent and Trim go through the committer too, and write to the log without a sync. Every log is synced before
// the next one begins, and recovery ends a log at the first missing record. So the sync of a later append covers all earlier writes,
// and no event exists without the content put before it. A crash before that sync may lose a put, and may restore swept content and
// trimmed events. Deleted records leave the disk when Pebble compacts the tables that hold them.
//
// Order: appends to one stream are decided in the order in which the committer receives them; of several with the same
// after, exactly one succeeds. There is no order between streams.
//
// Exclusion: one process at a time has a directory open; others get ErrLocked with the id of that process. The file LOCK of a dead process
// does not prevent opening. Do not remove the file of a live process: another process could then open the directory with a new LOCK.
// The first process then takes no more writes; its next commit fails with ErrReadOnly and may or may not be stored.
//
// A full disk: with less than Config.FreeFloorBytes free, the store becomes read-only, with an error that has the cause. Stored
// data stays readable, also after the next Open. Opening the store with more room makes it writable again.
//
// A failing disk: if a write fails, for any reason (no inodes, a quota, a broken or read-only disk, too many open files), the store becomes
// read-only with an error that names the remedy, and writes no more: the directory stays as after a crash. No fault ends the process.
// The same happens if the directory, its lock, its mark or its database was removed, renamed or unmounted: each commit checks for
// that before it is acknowledged.
//
// Damage is reported with ErrDamaged and never served:
//
//	a bit of a record changes               its checksum, which covers its key as well
//	a record is missing, or in a wrong      the numbers of its neighbors; the head, which holds the
//	place, or the last one is gone          last number of its stream
//	a large value changes                   its hash is in the event
//	content changes                         its checksum, and its hash, which is in its key
//	events of a trimmed stream are gone     its head, which has the first sequence that was not trimmed
//	Pebble's tables and manifest change     Pebble's checksums
//	the newest commits are gone             COMMIT (see mark for losses that it cannot see after a power failure)
//
// Damage to one stream does not affect others: Heads continues after a head that cannot be read, and a stream that has lost its head
// cannot be started again. OpenRaw opens a directory record by record, to check it and to rebuild heads and commit numbers. It also
// finds damage below the records, in Pebble's own files, but cannot repair it.
//
// The tests flip a bit of every byte of a small store, cut its files at every length (with SLUICE_EXHAUSTIVE=1; else at every
// eleventh), and expect each event unchanged or an error. A directory replaced by an older copy of itself is not detected.
//
// # Recovery
//
// Open reads the files in this order, and stops at the first one in a state that neither a store nor a crash leaves:
//
//	LOCK ──▶ VERSION ──▶ COMMIT ──▶ db (Pebble applies its log) ──▶ its commit number is at least that of COMMIT
//
// It repairs nothing: it refuses a state that a crash cannot cause, and leaves it unchanged. The log may end in the middle of a
// record, since only synced appends are acknowledged. Records are checked when they are read.
//
//	an empty directory                  a store is made in it
//	a LOCK of a process that has died   taken over
//	no VERSION, and no database         VERSION is made: a crash has cut short the making of the store
//	no VERSION, but a database          refused with ErrDamaged, and nothing is touched: to recover, write the file VERSION by hand
//	no VERSION, but a COMMIT            refused with ErrDamaged, likewise
//	no VERSION, but a db of others      refused with ErrDamaged, likewise: it is the folder of another program
//	a VERSION of a later program        refused with ErrVersion, and nothing is touched
//	a VERSION that is rubbish           refused with ErrDamaged
//	no COMMIT                           recreated from the database: removing it accepts the database as it is
//	a COMMIT that is rubbish            refused with ErrDamaged; a Raw mends it
//	a COMMIT behind the database        opened: it is not synced, and may be old after a power failure
//	a COMMIT ahead of the database      refused with ErrDamaged: acknowledged commits are lost, which nothing mends
//	a COMMIT, but no database           refused with ErrDamaged, likewise
//	a log that lacks a batch            refused with ErrDamaged, likewise: it has later ones, see package commitlog
//	no commit number in the database    refused with ErrDamaged; a Raw mends it
//	a commit number that is rubbish     refused with ErrDamaged; a Raw mends it
//	a head that is rubbish              opened: the head is listed with ErrDamaged; a Raw writes another
//	a batch that is rubbish             opened: its stream ends before it with ErrDamaged, and nothing mends it
//	a content that is rubbish           opened: reading it is ErrDamaged; PutContent of the same bytes repairs it
//
// # Stored format
//
//	VERSION  "sluice journal 2\n", written first and synced; 1: without indexes and change log, which Open adds
//	COMMIT   ┌────────────┬───────────────────┐
//	         │ number (8) │ CRC-32C of it (4) │   written after each sync, and not synced itself
//	         └────────────┴───────────────────┘
//	LOCK     the number of the process that has it open, for messages only: the lock belongs to the open file
//	db/      Pebble's log, tables and manifest, with the records below
//
// Keys are a byte for the space, the stream's name, and for events a zero byte and the first sequence of the batch in eight bytes, most
// significant first; for content, a zero byte and the hash. So a stream's batches are neighbors in the order of their events, and the heads
// of all runs are neighbors of each other.
//
//	e <stream> 0 <first sequence> ─▶ ┌────────────┬─────────────┬───────┬───────┬───┐
//	                                 │ CRC-32C (4)│ version (1) │ event │ event │ … │     one batch of Append
//	                                 └────────────┴─────────────┴───────┴───────┴───┘
//	h <stream>                    ─▶ ┌────────────┬─────────────┬──────────┬────────────┐
//	                                 │ CRC-32C (4)│ version (1) │ last (8) │ head, or – │
//	                                 └────────────┴─────────────┴──────────┴────────────┘
//	h <trimmed stream>            ─▶ ┌────────────┬─────────────┬──────────┬───────────┬──────┐
//	                                 │ CRC-32C (4)│ version (2) │ last (8) │ first (8) │ head │
//	                                 └────────────┴─────────────┴──────────┴───────────┴──────┘
//	b <stream> 0 <SHA-256>        ─▶ ┌────────────┬─────────────┬───────┐
//	                                 │ CRC-32C (4)│ version (1) │ bytes │                           one blob of PutContent
//	                                 └────────────┴─────────────┴───────┘
//	i <index> <key> <instant> <run> ─▶ nothing: see package records
//	g <number of the commit>      ─▶ the runs that it has changed: see package records
//	h <deleted stream>            ─▶ version (3) and the last sequence: the name is not free
//	rebuilding                    ─▶ nothing: the indexes are being made anew, and Open goes on with that
//	commit                        ─▶ ┌────────────┬─────────────┬────────────┐
//	                                 │ CRC-32C (4)│ version (1) │ number (8) │
//	                                 └────────────┴─────────────┴────────────┘
//
// Indexes and change log are derived: Rebuild and a Raw make the indexes anew from the heads, and the change log begins afresh.
//
// The checksum covers the key and the bytes that follow it. Package journal documents the encoding of events and heads. A value whose
// encoding exceeds 32 KiB becomes the content of the stream blob/<hash>, in the same batch as the event that refers to it, unless it
// is already stored. Version 2 of the head came with trims: a program that does not know it returns ErrVersion and does not report
// the missing events as damage. Directories without content and trims have the earlier format.
//
// # Cost
//
// Events of 300 bytes, each appended to a run of its own with a head, on a small cloud machine of two cores whose disk
// takes 100 to 140 µs (L) to write and sync 512 bytes; median and best of six runs (BenchmarkAppend, which measures the disk's own
// latency beside each figure):
//
//	writers   events/s   best      events/sync   p50    CPU/event
//	      1      6,200     6,300             1   1.2 L      69 µs
//	     16     47,000    48,000            15   2.4 L      12 µs
//	    256    170,000   178,000           140    11 L       7 µs
//
// Putting 10,000 blobs of 1 KiB, with the append that syncs them, takes 40 ms of CPU and 180 ms on that disk, a MiB at a time, with
// other appends in between; reading one blob takes 15 µs (BenchmarkPutContent, BenchmarkContent).
//
// Reading a run of 50 events takes 80 µs, a head 1.6 µs. Opening takes as long as a few syncs, plus, after a kill, up to 0.2 s for a log of
// 32 MiB. Memory is the cache (Config.CacheBytes), at most four tables of 32 MiB that are not on the disk yet, and 300 bytes for each
// of at most 65,536 streams with recent appends.
package disk
