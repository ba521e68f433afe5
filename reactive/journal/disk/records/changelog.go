package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// changeSpace is the first byte of all keys of the change log. Part of the stored format.
const changeSpace = 'g'

// Bounds of the age and the size of the log.
const (
	keepTime  = 7 * 24 * time.Hour
	keepBytes = 1 << 30
)

// pruneEvery is the number of commits between two prunes. Each drops at most pruneMost records.
const (
	pruneEvery = 1024
	pruneMost  = 4 * pruneEvery
)

func appendChangeKey(dst []byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, changeSpace), number)
}

// ChangeLog writes the log. It belongs to the committer.
type ChangeLog struct {
	bytes       uint64 // of all records so far
	key, record []byte
}

// OpenChangeLog returns the change log of a database whose newest commit has a number.
func OpenChangeLog(db pebble.Reader, number uint64) (*ChangeLog, error) {
	l := &ChangeLog{}
	entry, err := readCommit(db, number)
	if err == nil {
		l.bytes = entry.bytes
	} else if errors.Is(err, journal.ErrGap) {
		err = nil
	}
	return l, err
}

// Begin begins the record of a commit at an instant.
func (l *ChangeLog) Begin(number uint64, at int64) {
	l.key = appendChangeKey(l.key[:0], number)
	l.record = binary.BigEndian.AppendUint64(BeginSealed(l.record[:0]), uint64(at))
	l.record = binary.BigEndian.AppendUint64(l.record, 0)
}

// Add adds a run with the sequence of its last event; 0: it was deleted.
func (l *ChangeLog) Add(run string, last uint64) {
	l.record = append(binary.AppendUvarint(l.record, uint64(len(run))), run...)
	l.record = binary.AppendUvarint(l.record, last)
}

// Stage adds the record to the batch of its commit, and prunes the log every pruneEvery commits.
func (l *ChangeLog) Stage(db pebble.Reader, b *pebble.Batch) error {
	l.bytes += uint64(len(l.key) + len(l.record))
	binary.BigEndian.PutUint64(l.record[SealHeader+8:], l.bytes)
	Seal(l.record, l.key)
	if err := b.Set(l.key, l.record, nil); err != nil {
		return err
	}
	if number := binary.BigEndian.Uint64(l.key[1:]); number%pruneEvery != 0 {
		return nil
	}
	return l.prune(db, b, int64(binary.BigEndian.Uint64(l.record[SealHeader:])))
}

// prune drops the oldest records while the log exceeds its bounds.
func (l *ChangeLog) prune(db pebble.Reader, b *pebble.Batch, now int64) error {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{changeSpace}, UpperBound: []byte{changeSpace + 1}})
	if err != nil {
		return err
	}
	defer it.Close()
	upTo := []byte(nil)
	for ok, n := it.First(), 0; ok && n < pruneMost; ok, n = it.Next(), n+1 {
		record, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		e, err := openCommit(record, it.Key())
		if err != nil || now-e.at < int64(keepTime) && l.bytes-e.bytes < keepBytes {
			break // a damaged record stays, so that it is reported
		}
		upTo = append(append(upTo[:0], it.Key()...), 0)
	}
	if upTo == nil {
		return it.Error()
	}
	return b.DeleteRange([]byte{changeSpace}, upTo, nil)
}

// DropChangeLog adds the removal of the whole log to a batch.
func DropChangeLog(b *pebble.Batch) error {
	return b.DeleteRange([]byte{changeSpace}, []byte{changeSpace + 1}, nil)
}

// commitEntry is the content of a record.
type commitEntry struct {
	at    int64
	bytes uint64
	rest  []byte
}

func openCommit(record, key []byte) (e commitEntry, err error) {
	content, err := Unseal(record, key)
	if err == nil && (len(content) < 16 || len(key) != 9) {
		err = fmt.Errorf("%w: it is too short", journal.ErrDamaged)
	}
	if err != nil {
		return e, fmt.Errorf("change log: %w", err)
	}
	return commitEntry{int64(binary.BigEndian.Uint64(content)), binary.BigEndian.Uint64(content[8:]), content[16:]}, nil
}

// readCommit reads the record of one commit. It returns ErrGap if there is none.
func readCommit(db pebble.Reader, number uint64) (e commitEntry, err error) {
	key := appendChangeKey(nil, number)
	record, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return e, journal.ErrGap
	}
	if err != nil {
		return e, err
	}
	defer closer.Close()
	if e, err = openCommit(record, key); err == nil {
		e.rest = append([]byte(nil), e.rest...)
	}
	return e, err
}

// PlaceOf returns the place behind a commit.
func PlaceOf(number uint64) journal.Place { return journal.Place(strconv.FormatUint(number, 10)) }

// ChangeRange is the part of the log that a reader has not read yet.
type ChangeRange struct {
	next, to uint64
}

// ChangesBehind returns the part of the log behind a place, up to the commit with a number. It returns ErrGap if the log no longer
// has all commits behind the place.
func ChangesBehind(db pebble.Reader, after journal.Place, number uint64) (ChangeRange, error) {
	oldest, err := oldestCommit(db, number)
	if after == "" || err != nil {
		return ChangeRange{oldest, number}, err
	}
	at, err := strconv.ParseUint(string(after), 10, 64)
	if err != nil || at > number || at+1 < oldest {
		return ChangeRange{}, fmt.Errorf("%w: %q", journal.ErrGap, after)
	}
	return ChangeRange{at + 1, number}, nil
}

// oldestCommit returns the number of the oldest commit in the log, or of the next commit if the log is empty.
func oldestCommit(db pebble.Reader, number uint64) (uint64, error) {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{changeSpace}, UpperBound: []byte{changeSpace + 1}})
	if err != nil {
		return 0, err
	}
	defer it.Close()
	if !it.First() {
		return number + 1, it.Error()
	}
	if len(it.Key()) != 9 {
		return 0, fmt.Errorf("%w: the change log has the key %q", journal.ErrDamaged, it.Key())
	}
	return binary.BigEndian.Uint64(it.Key()[1:]), nil
}

// Load appends the changes of the next commits to page, until it has most or the range ends.
func (r *ChangeRange) Load(db pebble.Reader, page []journal.Change, most int) ([]journal.Change, error) {
	for len(page) < most && r.next <= r.to {
		e, err := readCommit(db, r.next)
		if errors.Is(err, journal.ErrGap) {
			return page, fmt.Errorf("%w: the change log goes on behind commit %d", journal.ErrGap, r.next)
		}
		if err != nil {
			return page, err
		}
		if page, err = e.changes(page, r.next); err != nil {
			return page, err
		}
		r.next++
	}
	return page, nil
}

// changes appends the changes of a commit. Only the last has the place behind the commit.
func (e *commitEntry) changes(page []journal.Change, number uint64) ([]journal.Change, error) {
	for rest := e.rest; len(rest) > 0; {
		n, width := binary.Uvarint(rest)
		if width <= 0 || n > uint64(len(rest)-width) {
			return page, fmt.Errorf("%w: commit %d of the change log", journal.ErrDamaged, number)
		}
		run := string(rest[width : width+int(n)])
		last, lastWidth := binary.Uvarint(rest[width+int(n):])
		if lastWidth <= 0 {
			return page, fmt.Errorf("%w: commit %d of the change log", journal.ErrDamaged, number)
		}
		rest = rest[width+int(n)+lastWidth:]
		change := journal.Change{Place: PlaceOf(number - 1), Run: run, Last: last}
		if len(rest) == 0 {
			change.Place = PlaceOf(number)
		}
		page = append(page, change)
	}
	return page, nil
}
