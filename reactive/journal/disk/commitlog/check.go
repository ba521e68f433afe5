package commitlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// ErrGap means that a log is damaged: it lacks a batch, and has later ones.
var ErrGap = errors.New("a log lacks a batch before others")

// Open opens a database whose file system is a Log. If its logs lack a batch, or Pebble panics about inconsistent files, it returns an
// error.
func Open(dir string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%v", r)
		}
	}()
	if err := Check(o.FS, dir); err != nil {
		return nil, err
	}
	return pebble.Open(dir, o)
}

// Check returns ErrGap if Pebble would recover a directory without a batch, but with later ones. It must be called before Pebble
// opens the directory. Only after the death of a process does it read logs.
func Check(files vfs.FS, dir string) error {
	logs, err := scan(files, dir)
	if err != nil {
		return err
	}
	pebbles, err := scan(withoutOurs{files}, dir)
	for _, log := range logs {
		alone, there := pebbles.Get(log.Num)
		switch _, last := log.SegmentLocation(log.NumSegments() - 1); {
		case err != nil:
			return err
		case !isSegment(last):
		case !there:
			err = checkAlone(files, last)
		default:
			err = checkLog(files, last, alone, log)
		}
	}
	return err
}

// checkAlone checks a segment of this package without Pebble's segment. Before Pebble reuses its file, ours is emptied, and then
// removed if possible.
func checkAlone(files vfs.FS, path string) error {
	info, err := files.Stat(path)
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf("%w: %s is there without the other segment", ErrGap, path)
	}
	return err
}

func scan(files vfs.FS, dir string) (wal.Logs, error) {
	logs, err := wal.Scan(wal.Dir{FS: files, Dirname: dir})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return logs, err
}

// withoutOurs is a file system without the files of this package.
type withoutOurs struct{ vfs.FS }

func (w withoutOurs) List(dir string) ([]string, error) {
	names, err := w.FS.List(dir)
	return slices.DeleteFunc(names, isSegment), err
}

func isSegment(path string) bool { return strings.HasSuffix(path, ending) }

// checkLog checks a log with a second segment: Pebble's segment alone, and both together.
func checkLog(files vfs.FS, second string, alone, both wal.LogicalLog) error {
	first, err := firstOf(files, second, uint32(both.Num))
	if err != nil {
		return err
	}
	// Pebble does not distinguish damage from a torn end in a segment other than the last.
	end, err := checkSequence(alone, first)
	if err == nil && end != io.EOF && end != record.ErrUnexpectedEOF {
		err = fmt.Errorf("%w: %s.log: %w", ErrGap, both.Num, end)
	}
	if err == nil && first > 0 {
		_, err = checkSequence(both, first)
	}
	return err
}

// checkSequence checks the sequence numbers of the batches of a log: each batch has one per entry, and the numbers of the next batch
// follow. next is the first number; 0: unknown. end is the reason for which Pebble stops reading.
func checkSequence(log wal.LogicalLog, next uint64) (end, err error) {
	r := log.OpenForRead()
	defer r.Close()
	for {
		batch, at, end := r.NextRecord()
		if end != nil {
			return end, nil
		}
		var head [headBytes]byte
		if _, err := io.ReadFull(batch, head[:]); err != nil {
			return nil, err
		}
		number := binary.LittleEndian.Uint64(head[:])
		if next > 0 && number != next {
			return nil, fmt.Errorf("%w: %s has number %d where %d belongs", ErrGap, at.PhysicalFile, number, next)
		}
		next = number + uint64(binary.LittleEndian.Uint32(head[8:]))
	}
}

// firstOf returns the sequence number at the beginning of a file of this package, or 0 if the file is empty or its beginning is
// incomplete.
func firstOf(files vfs.FS, path string, log uint32) (first uint64, err error) {
	f, err := files.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var begin [headerBytes + headBytes]byte
	if _, err := io.ReadFull(f, begin[:]); err == io.EOF || err == io.ErrUnexpectedEOF {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	first = binary.LittleEndian.Uint64(begin[headerBytes:])
	whole := (&Log{number: log}).appendRecord(nil, appendHead(nil, first))
	if !bytes.Equal(begin[:], whole) {
		return 0, nil
	}
	return first, nil
}

// headBytes is the length of the head of a batch: its sequence number, and the number of its entries.
const headBytes = 12

// appendHead appends a batch without entries.
func appendHead(to []byte, number uint64) []byte {
	return append(binary.LittleEndian.AppendUint64(to, number), 0, 0, 0, 0)
}
