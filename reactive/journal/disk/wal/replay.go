package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/wal"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Replay applies the batches of all files to the database, in their order, and reports whether there were any. Tables may hold some
// of them already: each key that the files hold has its newest value in them, so it does not matter. Only the last file may end in
// the middle of a record, because each is ended before the next begins.
func (l *Log) Replay() (found bool, err error) {
	logs, err := wal.Scan(wal.Dir{FS: l.files, Dirname: l.dir})
	for i := 0; i < len(logs) && err == nil; i++ {
		found = true
		if err = l.replay(logs[i], i == len(logs)-1); err != nil {
			err = fmt.Errorf("log %s: %w", path(l.files, l.dir, uint64(logs[i].Num)), err)
		}
	}
	return found, err
}

func (l *Log) replay(log wal.LogicalLog, last bool) error {
	file := log.OpenForRead()
	defer file.Close()
	var content bytes.Buffer
	for {
		r, _, err := file.NextRecord()
		if err == nil {
			content.Reset()
			_, err = content.ReadFrom(r)
		}
		switch {
		case errors.Is(err, io.EOF), last && errors.Is(err, record.ErrUnexpectedEOF):
			return nil
		case errors.Is(err, record.ErrUnexpectedEOF), errors.Is(err, record.ErrInvalidChunk), errors.Is(err, record.ErrZeroedChunk):
			return fmt.Errorf("%w: %w", journal.ErrDamaged, err)
		case err != nil:
			return err
		}
		if err = l.replayBatch(bytes.Clone(content.Bytes())); err != nil {
			return err
		}
	}
}

func (l *Log) replayBatch(record []byte) error {
	b := l.db.NewBatch()
	defer b.Close()
	if len(record) < batchHeader {
		return fmt.Errorf("%w: a batch has %d bytes", journal.ErrDamaged, len(record))
	}
	binary.LittleEndian.PutUint64(record, 0)
	if err := b.SetRepr(record); err != nil {
		return fmt.Errorf("%w: %w", journal.ErrDamaged, err)
	}
	return l.db.Apply(b, pebble.NoSync)
}

// batchHeader is the size of the numbers with which a batch begins: its sequence number, and how many follow.
const batchHeader = 8 + 4
