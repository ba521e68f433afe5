package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// Log is the log of an open database: a sequence of files, of which the last is written to. It is used by one goroutine at a
// time, which is also the only one that writes to the database.
type Log struct {
	db      *pebble.DB
	files   *shield.FS
	dir     string
	max     int64    // bytes of a file, beyond which another begins
	file    vfs.File // nil: the next record begins a file
	kept    []uint64 // numbers of the files, from the oldest on
	flushes []flush  // under way, from the oldest on
	end     int64    // of the last file, in bytes
	synced  int64    // up to which it is synced
	seq     uint64   // of the next record in the database
	buf     []byte
}

// flush moves what is in the files up to a number into tables.
type flush struct {
	last uint64
	done <-chan struct{}
}

// New returns the log in a directory of its own of a database that was opened with DisableWAL and takes no other writes. Once a file
// has max bytes, another begins, and the first is removed when tables hold its content. New makes no file: the first record does.
func New(db *pebble.DB, files *shield.FS, dir string, max int64) *Log {
	return &Log{db: db, files: files, dir: dir, max: max}
}

// firstNumber is above all numbers that Pebble gives to files: it would take a log with a lower one for one that tables hold.
const firstNumber = 1 << 31

// Apply writes a batch to the log, with a sync if it is to be durable at once, and then applies it to the database.
func (l *Log) Apply(b *pebble.Batch, sync bool) error {
	if b.Empty() {
		return nil
	}
	if err := l.removeFlushed(); err != nil {
		return err
	}
	if l.file == nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	record, count := b.Repr(), uint64(b.Count())
	binary.LittleEndian.PutUint64(record, l.seq)
	l.buf = appendRecord(l.buf[:0], l.number(), l.end, l.synced, record)
	binary.LittleEndian.PutUint64(record, 0) // Pebble numbers it itself, and a large one only if it has no number
	if err := l.write(sync); err != nil {
		return err
	}
	if err := l.db.Apply(b, pebble.NoSync); err != nil {
		return err
	}
	if got := uint64(b.SeqNum()); got != l.seq && got != 0 { // 0: a large batch, which has given its content away
		return fmt.Errorf("the database has numbered a batch %d, and its log %d", got, l.seq)
	}
	l.seq += count
	if l.end < l.max {
		return nil
	}
	return l.endFile()
}

// bufferKept is the size of a buffer that is kept.
const bufferKept = 1 << 20

// write writes the buffer, and makes the log durable if sync is true.
func (l *Log) write(sync bool) error {
	n, err := l.file.Write(l.buf)
	if l.end += int64(n); cap(l.buf) > bufferKept {
		l.buf = nil
	}
	if err == nil && sync {
		if err = l.file.SyncData(); err == nil {
			l.synced = l.end
		}
	}
	return err
}

func (l *Log) number() uint32 { return uint32(l.kept[len(l.kept)-1]) }

// begin begins a file, with a number above those of all others.
func (l *Log) begin() error {
	if l.seq == 0 {
		if err := l.count(); err != nil {
			return err
		}
	}
	found, err := numbers(l.files, l.dir)
	if err != nil {
		return err
	}
	next := slices.Max(append(found, firstNumber-1)) + 1
	file, err := l.files.Create(path(l.files, l.dir, next), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err = errors.Join(file.Preallocate(0, 0), shield.SyncDir(l.files, l.dir)); err != nil { // the first makes it a log for the shield
		return errors.Join(err, file.Close())
	}
	l.file, l.end, l.synced, l.kept = file, 0, 0, append(l.kept, next)
	return nil
}

// count finds out the sequence number of the next record, with a batch that takes none.
func (l *Log) count() error {
	b := l.db.NewBatch()
	defer b.Close()
	err := b.LogData([]byte{0}, nil)
	if err == nil {
		err = l.db.Apply(b, pebble.NoSync)
	}
	l.seq = uint64(b.SeqNum())
	return err
}

// endFile ends the last file, and has its content moved into tables.
func (l *Log) endFile() error {
	l.buf = appendEnd(l.buf[:0], l.number())
	if err := errors.Join(l.write(true), l.Close()); err != nil {
		return err
	}
	done, err := l.db.AsyncFlush()
	if err == nil {
		l.flushes = append(l.flushes, flush{l.kept[len(l.kept)-1], done})
	}
	return err
}

// removeFlushed removes the files whose content is in tables.
func (l *Log) removeFlushed() error {
	for len(l.flushes) > 0 {
		select {
		case <-l.flushes[0].done:
		default:
			return nil
		}
		for len(l.kept) > 0 && l.kept[0] <= l.flushes[0].last {
			if err := remove(l.files, l.dir, l.kept[0]); err != nil {
				return err
			}
			l.kept = l.kept[1:]
		}
		l.flushes = l.flushes[1:]
	}
	return nil
}

// Close closes the last file, and leaves the log as a crash would. After Remove it does nothing.
func (l *Log) Close() (err error) {
	if l.file != nil {
		err, l.file = l.file.Close(), nil
	}
	return err
}

// Remove closes the log and removes its files: tables hold everything.
func (l *Log) Remove() error {
	err := l.Close()
	l.kept, l.flushes = nil, nil
	return errors.Join(err, RemoveAll(l.files, l.dir))
}

// RemoveAll removes all logs in a directory, from the oldest on.
func RemoveAll(files *shield.FS, dir string) error {
	found, err := numbers(files, dir)
	slices.Sort(found)
	for ; len(found) > 0 && err == nil; found = found[1:] {
		err = remove(files, dir, found[0])
	}
	return err
}

// remove removes a file for good: it does not come back after a crash, when later ones may be gone.
func remove(files *shield.FS, dir string, number uint64) error {
	if err := files.Remove(path(files, dir, number)); err != nil && !errors.Is(err, fs.ErrNotExist) { // Pebble may have removed it
		return err
	}
	return shield.SyncDir(files, dir)
}

const extension = ".log"

func path(files vfs.FS, dir string, number uint64) string {
	return files.PathJoin(dir, fmt.Sprintf("%06d%s", number, extension))
}

// numbers returns the numbers of all logs in a directory.
func numbers(files vfs.FS, dir string) (found []uint64, err error) {
	names, err := files.List(dir)
	for _, name := range names {
		text, isLog := strings.CutSuffix(name, extension)
		if number, err := strconv.ParseUint(text, 10, 32); isLog && err == nil {
			found = append(found, number)
		}
	}
	return found, err
}

// ErrStopped means that tables were not filled, because the database has failed meanwhile.
var ErrStopped = errors.New("the tables were not filled")

// Fill moves what a database has in memory into tables, and returns when they are durable, or when failed is closed.
func Fill(db *pebble.DB, failed <-chan struct{}) error {
	filled, err := db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-filled:
		return nil
	case <-failed:
		return ErrStopped
	}
}
