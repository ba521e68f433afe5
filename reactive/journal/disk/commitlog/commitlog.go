// Package commitlog makes small batches durable on the goroutine that commits them.
//
//	log := commitlog.New(files, "data/db")                     the file system that Pebble is opened with
//	db, err := pebble.Open("data/db", &pebble.Options{FS: log})
//	err = log.Apply(db, batch, true)                           durable
//
// A goroutine of Pebble writes and syncs Pebble's log. A commit that waits for it changes goroutines twice, which takes a third of
// the time of a small commit on a fast disk, and much more if other programs keep the processors busy. So a Log also writes a
// small batch to a second file, and syncs only that. A larger batch takes longer than the wait, and is not written twice.
//
//	db/000012.log        Pebble's, with all batches; written in blocks of 32 KiB, and synced for large batches and at its end
//	db/000012-001.log    the small batches, each written at once; removed when the other has ended
//
// To Pebble these are two segments of one log, as it makes them itself when it switches from a stalled disk to another one. Pebble
// recovers a log from all of its segments: it reads the first up to its last whole batch, then the second, in which it skips the
// batches that it has read, by sequence number. So this package needs no recovery code. Pebble does not detect one kind of damage,
// which no crash causes: the first segment ends early, and the second lacks a batch that was in the rest. Check detects it.
package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"

	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// Log is a file system for Pebble, and the second segment of Pebble's log. All batches of a database must go through Apply. One
// goroutine at a time may use it, and flush or close the database; Pebble creates files on other goroutines meanwhile. Make one with
// New.
type Log struct {
	vfs.FS
	dir    string
	number uint32   // of Pebble's log
	first  uint64   // first sequence number in that log; 0: no batch
	behind bool     // the newest batches are neither durable nor in the file
	file   vfs.File // nil: no small batch was written since Pebble's log began
	path   string   // of file
	end    int64    // of its written part, in bytes
	synced int64    // durable bytes of the written part
	room   int64    // preallocated bytes
	buf    []byte

	manifest atomic.Bool // Pebble has begun one
}

// HasManifest reports whether Pebble has begun a manifest since it was opened. If it finds no log, as after a death in the middle of
// a recovery, it begins none until it flushes a table; and a checkpoint does not include an earlier manifest.
func (l *Log) HasManifest() bool { return l.manifest.Load() }

// New returns the log of the database in a directory.
func New(files vfs.FS, dir string) *Log { return &Log{FS: files, dir: dir} }

// smallBytes bounds a batch that is written to both files.
const smallBytes = 16 << 10

// Apply applies a batch, which must not be empty. If durable is true, it returns when this batch and all earlier ones are durable.
func (l *Log) Apply(db *pebble.DB, b *pebble.Batch, durable bool) error {
	if b.Len() > smallBytes || l.behind {
		return l.applyLarge(db, b, durable)
	}
	if err := l.apply(db, b, false); err != nil {
		return err
	}
	if err := l.write(b.Repr()); err != nil || !durable {
		return err
	}
	if err := l.file.SyncData(); err != nil {
		return err
	}
	l.synced = l.end
	return nil
}

// applyLarge writes a batch only to Pebble's log. Until it is durable there, no later batch may be in the file, because a crash could
// keep the later batch without this one.
func (l *Log) applyLarge(db *pebble.DB, b *pebble.Batch, durable bool) error {
	l.behind = !durable
	return l.apply(db, b, durable)
}

// apply applies a batch to Pebble.
func (l *Log) apply(db *pebble.DB, b *pebble.Batch, durable bool) error {
	how := pebble.NoSync
	if durable {
		how = pebble.Sync
	}
	if err := db.Apply(b, how); err != nil {
		return err
	}
	if l.first == 0 {
		// It stays 0 for a batch that takes half of Pebble's table in memory: Pebble then takes over its data, and ends its log
		// behind it.
		l.first = uint64(b.SeqNum())
	}
	return nil
}

// write appends a batch with the sequence number that Pebble has set.
func (l *Log) write(batch []byte) error {
	if l.file == nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	return l.append(batch)
}

func (l *Log) append(record []byte) error {
	l.buf = l.appendRecord(l.buf[:0], record)
	if l.end += int64(len(l.buf)); l.end > l.room {
		grow(l.file, l.room, l.end+roomBytes-l.room)
		l.room = l.end + roomBytes
	}
	_, err := l.file.Write(l.buf)
	return err
}

// roomBytes is the room preallocated behind the written part of the file. It is part of the file: a sync without a new file size
// takes two thirds of the time. It reads as zeros, which end a log.
const roomBytes = 1 << 20

// ending is the end of the file's name: the first segment to which Pebble would switch from 000012.log.
const ending = "-001.log"

// begin creates the file and makes its name durable. Its first record is a batch without entries, which Pebble skips, with the
// sequence number of the first batch of Pebble's log: see Check.
func (l *Log) begin() (err error) {
	l.path = l.PathJoin(l.dir, fmt.Sprintf("%06d", l.number)+ending)
	if l.file, err = l.FS.Create(l.path, vfs.WriteCategoryUnspecified); err != nil {
		return err
	}
	l.end, l.synced, l.room = 0, 0, 0
	if err = l.append(appendHead(nil, l.first)); err != nil {
		return err
	}
	return shield.SyncDir(l.FS, l.dir)
}

// Create implements vfs.FS.
func (l *Log) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := l.creating(name); err != nil {
		return nil, err
	}
	return l.FS.Create(name, category)
}

// ReuseForWrite implements vfs.FS.
func (l *Log) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := l.creating(newname); err != nil {
		return nil, err
	}
	return l.FS.ReuseForWrite(oldname, newname, category)
}

// Remove implements vfs.FS. Pebble removes the segments of a recovered log one by one. Remove removes the segment of this package
// first, so that no crash leaves it alone.
func (l *Log) Remove(name string) error {
	number, _, isLog := wal.ParseLogFilename(l.PathBase(name))
	if isLog && !isSegment(name) {
		dir := l.PathDir(name)
		err := l.FS.Remove(l.PathJoin(dir, number.String()+ending))
		if err == nil {
			err = shield.SyncDir(l.FS, dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.FS.Remove(name)
}

// creating removes the file before Pebble begins its next log. Pebble has then synced its last log, and only the newest log may have
// a segment with a torn end.
func (l *Log) creating(name string) error {
	if strings.HasPrefix(l.PathBase(name), "MANIFEST-") {
		l.manifest.Store(true)
	}
	number, _, isLog := wal.ParseLogFilename(l.PathBase(name))
	if !isLog || l.PathDir(name) != l.dir { // Pebble copies logs into backups
		return nil
	}
	err := l.remove()
	l.number, l.first = uint32(number), 0
	return err
}

// remove empties the file and removes it. Pebble reads an empty file that cannot be removed as the end of a log.
func (l *Log) remove() error {
	if l.file == nil {
		return nil
	}
	err := l.Close()
	empty, createErr := l.FS.Create(l.path, vfs.WriteCategoryUnspecified)
	if err = errors.Join(err, createErr); err != nil {
		return err
	}
	err = errors.Join(empty.Sync(), empty.Close())
	_ = l.FS.Remove(l.path)
	return errors.Join(err, shield.SyncDir(l.FS, l.dir))
}

// Close closes the file, without a sync.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Copy copies segments of this package in a directory to Pebble's copy of the database, for the logs in the copy. The copy needs them
// if Pebble can no longer write to its log.
func Copy(files vfs.FS, from, to string) error {
	names, err := files.List(to)
	for _, name := range names {
		second := strings.TrimSuffix(name, ".log") + ending
		if _, statErr := files.Stat(files.PathJoin(from, second)); err == nil && statErr == nil && strings.HasSuffix(name, ".log") {
			err = vfs.Copy(files, files.PathJoin(from, second), files.PathJoin(to, second))
		}
	}
	return err
}

// The format of Pebble's logs: blocks of chunks. A record that does not fit into the rest of a block continues in the next.
//
//	┌────────────┬────────────┬──────────┬──────────────────┬────────────┬───────┐
//	│ CRC-32C (4)│ length (2) │ kind (1) │ number of log (4)│ synced (8) │ bytes │
//	└────────────┴────────────┴──────────┴──────────────────┴────────────┴───────┘
//
// synced is the number of durable bytes of the file when the chunk was written: damage before that is not a torn end.
const (
	blockBytes  = 32 << 10
	headerBytes = 19

	wholeRecord, firstChunk, middleChunk, lastChunk = 9, 10, 11, 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends the chunks of a record that is written at the end of the file.
func (l *Log) appendRecord(to, record []byte) []byte {
	for first := true; first || len(record) > 0; first = false {
		free := blockBytes - int(l.end+int64(len(to)))%blockBytes - headerBytes
		if free < 0 {
			to = append(to, make([]byte, free+headerBytes)...)
			free = blockBytes - headerBytes
		}
		n := min(free, len(record))
		to = l.appendChunk(to, record[:n], kindOf(first, n == len(record)))
		record = record[n:]
	}
	return to
}

func kindOf(first, last bool) byte {
	switch {
	case first && last:
		return wholeRecord
	case first:
		return firstChunk
	case last:
		return lastChunk
	}
	return middleChunk
}

func (l *Log) appendChunk(to, part []byte, kind byte) []byte {
	at := len(to)
	to = append(to, 0, 0, 0, 0)
	to = binary.LittleEndian.AppendUint16(to, uint16(len(part)))
	to = append(to, kind)
	to = binary.LittleEndian.AppendUint32(to, l.number)
	to = binary.LittleEndian.AppendUint64(to, uint64(l.synced))
	to = append(to, part...)
	sum := crc32.Checksum(to[at+6:], castagnoli)
	binary.LittleEndian.PutUint32(to[at:], (sum>>15|sum<<17)+0xa282ead8)
	return to
}
