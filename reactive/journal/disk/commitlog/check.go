package commitlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// ErrGap means that a log is damaged: it lacks a batch, and has later ones.
var ErrGap = errors.New("a log lacks a batch before others")

// Check returns ErrGap if Pebble would recover a directory without a batch, but with later ones. It is called before Pebble opens the
// directory. There is something to read after the death of a process only.
func Check(files vfs.FS, dir string) error {
	logs, err := wal.Scan(wal.Dir{FS: files, Dirname: dir})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, log := range logs {
		if err == nil && log.NumSegments() == 2 {
			err = checkLog(files, log)
		}
	}
	return err
}

// checkLog compares the sequence numbers of the batches that Pebble reads of a log: a batch has as many as it has entries, and the next
// batch those that follow. A log ends with the first record that is not whole.
func checkLog(files vfs.FS, log wal.LogicalLog) error {
	_, second := log.SegmentLocation(1)
	next, err := firstOf(files, second, uint32(log.Num))
	if err != nil || next == 0 {
		return err
	}
	r := log.OpenForRead()
	defer r.Close()
	for {
		record, _, err := r.NextRecord()
		if err != nil { // Pebble reads no further, and knows whether that is an error
			return nil
		}
		var head [headBytes]byte
		if _, err := io.ReadFull(record, head[:]); err != nil {
			return err
		}
		if number := binary.LittleEndian.Uint64(head[:]); number != next {
			return fmt.Errorf("%w: %s has number %d where %d belongs", ErrGap, second, number, next)
		}
		next += uint64(binary.LittleEndian.Uint32(head[8:]))
	}
}

// firstOf returns the sequence number at the beginning of a file of this package; 0 if the file is not whole there, or empty.
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

// headBytes is the length of the head of a batch: its sequence number, and how many entries it has.
const headBytes = 12

// appendHead appends a batch without entries.
func appendHead(to []byte, number uint64) []byte {
	return append(binary.LittleEndian.AppendUint64(to, number), 0, 0, 0, 0)
}
