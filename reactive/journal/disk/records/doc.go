// Package records implements the records in a directory of package disk, and holds the ends of its streams in memory.
//
// A record in the database is sealed: a checksum that covers the key and the content, a version, and the content. Beside the heads,
// events and blobs of package disk, there are:
//
//	i <index> <length of key> <key> <length of value> <value> <instant, newest first> <run>
//	g <number of the commit> ─▶ ┌────────────┬─────────────┬────────┬───────────┬─────────────────────────────┐
//	                            │ CRC-32C (4)│ version (1) │ at (8) │ bytes (8) │ <run> <last> <run> <last> … │
//	                            └────────────┴─────────────┴────────┴───────────┴─────────────────────────────┘
//
// The first are the indexes: keys without values, derived from heads. The runs of one key are neighbors, the newest first, and the
// keys of a head depend on that head alone. A commit writes the keys in which the old head and the new one differ.
//
// The second is the change log: one record for each commit, with the runs that it has changed. Every commit has a record, so a
// missing record is damage, and the oldest record is the beginning of the log. bytes counts the bytes of all records so far, so
// the size of the log is the difference of two records.
//
// The files beside the database are the lock, the version of the layout, and the mark of the last acknowledged commit. Live holds in
// memory the ends of the streams that were appended to recently, and the readers that wait for them to grow.
package records
