package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// Raw is a directory opened record by record, to check it and to rebuild derived records. A Store trusts heads and commit
// numbers, and stops at the first damaged record; a Raw trusts nothing and continues after damage. It writes only heads,
// indexes and commit numbers, never events, and only if it was opened with mend. It belongs to one goroutine at a time. Like a
// Store, it holds the directory exclusively.
type Raw struct {
	s       *Store
	mend    bool
	version int           // of the directory
	batch   *pebble.Batch // heads not yet written
	changed bool          // heads were written or removed, so the indexes must be rebuilt
}

// rawBatchBytes is the number of bytes that are written with one sync.
const rawBatchBytes = 1 << 20

// OpenRaw opens a directory with a store; it does not create one. Without mend, it changes nothing in the database. It returns
// the same errors as Open, except damage that Commits reports.
func OpenRaw(dir string, mend bool, cfg Config) (*Raw, error) {
	r := &Raw{s: newStore(dir, cfg), mend: mend}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", dir, errors.Join(err, r.s.release()))
	}
	r.batch = r.s.db.NewBatch()
	return r, nil
}

func (r *Raw) open() error {
	s := r.s
	if holds, err := records.Holds(s.files, s.dir); err != nil || !holds {
		return cmp.Or(err, fs.ErrNotExist)
	}
	if err := s.takeLock(); err != nil {
		return err
	}
	var err error
	if r.version, err = records.CheckVersion(s.files, s.dir); err != nil {
		return err
	}
	dir := s.files.PathJoin(s.dir, records.DatabaseName)
	desc, err := pebble.Peek(dir, s.files)
	if err == nil && !desc.Exists { // it was lost, or never existed
		marked, markErr := r.marked()
		err = cmp.Or(markErr, records.Missing(s.files, dir, marked), fs.ErrNotExist)
	}
	if err != nil {
		return readError(err)
	}
	o := s.options()
	o.ReadOnly = !r.mend
	if r.mend {
		if _, err := s.space.Low(0); err != nil {
			return err
		}
	}
	s.db, err = s.openPebble(dir, o)
	return err
}

// Close writes the pending heads and unlocks the directory.
func (r *Raw) Close() error {
	err := errors.Join(r.flush(0), r.batch.Close())
	if r.changed && err == nil {
		err = r.Rebuild(context.Background())
	}
	if r.mend && err == nil {
		err = r.s.flush()
	}
	if err = errors.Join(err, r.s.release()); err != nil {
		return fmt.Errorf("close journal %s: %w", r.s.dir, err)
	}
	return nil
}

// flush makes the pending heads durable if they have at least least bytes.
func (r *Raw) flush(least int) error {
	if r.batch.Empty() || r.batch.Len() < least {
		return nil
	}
	return r.s.write(r.batch, true)
}

// Streams yields the names of all streams with a head, events or content, in order. An error means that records could not be read;
// the iteration continues with readable records.
func (r *Raw) Streams(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for name, err := range records.Streams(ctx, r.s.db) {
			if !yield(name, readError(err)) {
				return
			}
		}
	}
}

// Record is one record of events, as stored in the database.
type Record struct {
	First  uint64          // sequence of its first event, by its key
	Events []journal.Event // the events before the first one that cannot be decoded
	Err    error           // wraps ErrDamaged or ErrVersion; nil: the record is valid
}

// Records yields the records of a stream in the order of their keys, with or without a head. An error ends it, because the
// records after it cannot be read.
func (r *Raw) Records(ctx context.Context, stream string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		prefix := appendStreamPrefix(nil, stream)
		recordsUnder(ctx, r, prefix, yield, func(it *pebble.Iterator) Record { return r.recordAt(it, prefix) })
	}
}

// recordsUnder yields the results of at for the records whose keys have a prefix, and an error that ends the iteration.
func recordsUnder[T any](ctx context.Context, r *Raw, prefix []byte, yield func(T, error) bool, at func(*pebble.Iterator) T) {
	it, err := r.s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: behind(prefix)})
	if err == nil {
		for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
			if !yield(at(it), nil) {
				it.Close()
				return
			}
		}
		err = errors.Join(it.Error(), it.Close(), ctx.Err())
	}
	if err != nil {
		var none T
		yield(none, readError(err))
	}
}

// Content is one record of content, as stored in the database.
type Content struct {
	Hash journal.Hash // by its key
	Err  error        // wraps ErrDamaged or ErrVersion; nil: the record is valid
}

// Contents yields the content of a stream in the order of its hashes, with or without events. An error ends it, because the
// records after it cannot be read.
func (r *Raw) Contents(ctx context.Context, stream string) iter.Seq2[Content, error] {
	return func(yield func(Content, error) bool) {
		prefix := appendContentPrefix(nil, stream)
		recordsUnder(ctx, r, prefix, yield, func(it *pebble.Iterator) Content { return contentAt(it, prefix) })
	}
}

func contentAt(it *pebble.Iterator, prefix []byte) (out Content) {
	hash, ours := hashOf(it.Key(), prefix)
	record, err := it.ValueAndErr()
	switch {
	case err != nil:
		err = readError(err)
	case !ours:
		err = fmt.Errorf("%w: its key is %q", journal.ErrDamaged, it.Key())
	default:
		_, err = openContent(record, it.Key(), hash)
	}
	return Content{hash, err}
}

func (r *Raw) recordAt(it *pebble.Iterator, prefix []byte) (out Record) {
	first, ours := firstOf(it.Key(), prefix)
	out.First = first
	record, err := it.ValueAndErr()
	if err == nil && !ours {
		err = fmt.Errorf("%w: its key is %q", journal.ErrDamaged, it.Key())
	}
	if err == nil {
		record, err = unseal(record, it.Key())
	}
	if err == nil {
		codec := journal.Codec{Fetch: r.s.content}
		out.Events, err = codec.DecodeAll(nil, record)
	}
	for i := range out.Events {
		if want := first + uint64(i); err == nil && out.Events[i].Seq != want {
			out.Events, err = nil, fmt.Errorf("%w: event %d stands where %d belongs", journal.ErrDamaged, out.Events[i].Seq, want)
			break
		}
	}
	if err == nil && len(out.Events) == 0 {
		err = fmt.Errorf("%w: it holds no event", journal.ErrDamaged)
	}
	out.Err = readError(err)
	return out
}

// ErrNoHead means that a stream has no head, or a head without a run.
var ErrNoHead = errors.New("journal: no head")

// Head reads the head of a stream, with Last and First. The error wraps ErrNoHead, ErrDamaged or ErrVersion. With ErrNoHead,
// Last is set if the store has it.
func (r *Raw) Head(stream string) (h journal.Head, err error) {
	key := appendHeadKey(nil, stream)
	record, closer, err := r.s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return h, ErrNoHead
	}
	if err != nil {
		return h, readError(err)
	}
	defer closer.Close()
	opened, err := records.OpenHead(record, key)
	if err != nil {
		return h, err
	}
	if opened.Deleted != nil {
		return h, opened.Deleted
	}
	if len(opened.Encoded) == 0 {
		return journal.Head{Last: opened.Last}, ErrNoHead
	}
	if h, err = journal.DecodeHead(opened.Encoded); err == nil && (h.Last != 0 || h.First != 0) {
		err = fmt.Errorf("%w: it has its number twice", journal.ErrDamaged)
	}
	h.Last, h.First = opened.Last, opened.First
	return h, err
}

// PutHead replaces the head of stream h.Run, its last sequence (h.Last), and the first sequence behind the trimmed events (h.First).
func (r *Raw) PutHead(h journal.Head) error {
	last, first := h.Last, h.First
	h.Last, h.First = 0, 0
	encoded, err := journal.AppendHead(nil, &h)
	if err != nil {
		return err
	}
	r.changed = true
	key := appendHeadKey(nil, h.Run)
	if err = r.batch.Set(key, records.Head{Last: last, First: first, Encoded: encoded}.Append(nil, key), nil); err != nil {
		return err
	}
	return r.flush(rawBatchBytes)
}

// PutLast replaces the record under a stream's head key by the sequence of its last event alone: only runs have heads.
func (r *Raw) PutLast(stream string, last uint64) error {
	r.changed = true
	key := appendHeadKey(nil, stream)
	return errors.Join(r.batch.Set(key, records.Head{Last: last}.Append(nil, key), nil), r.flush(rawBatchBytes))
}

// DropHead removes the head of a stream that has no events.
func (r *Raw) DropHead(stream string) error {
	r.changed = true
	return errors.Join(r.batch.Delete(appendHeadKey(nil, stream), nil), r.flush(rawBatchBytes))
}

// ErrLost means that acknowledged events are missing.
var ErrLost = errors.New("journal: the newest commits are lost")

// Commits compares the numbers of the last commit in the database and in COMMIT. MendCommits can repair all differences, except
// errors that wrap ErrLost.
func (r *Raw) Commits() error {
	number, numberErr := r.lastCommit()
	marked, markErr := r.marked()
	switch {
	case numberErr != nil:
		return numberErr
	case markErr != nil:
		return markErr
	case number < marked:
		return fmt.Errorf("%w: %s ends at commit %d, but %s says that commit %d was acknowledged",
			ErrLost, records.DatabaseName, number, records.MarkName, marked)
	}
	return nil
}

// MendCommits rebuilds a damaged number of the last commit from the undamaged one.
func (r *Raw) MendCommits() error {
	number, numberErr := r.lastCommit()
	marked, markErr := r.marked()
	if numberErr != nil {
		number = max(1, marked) // if both are damaged, numbers start again
		err := r.batch.Set(commitKey, appendCommit(nil, number), nil)
		if err = cmp.Or(err, r.flush(0)); err != nil {
			return err
		}
	}
	if markErr != nil {
		return records.CreateFile(r.s.files, r.s.dir, records.MarkName, records.AppendMark(nil, number))
	}
	return nil
}

// lastCommit returns the number of the last commit in the database. Every commit writes it, so it is missing only in an empty store.
func (r *Raw) lastCommit() (uint64, error) {
	number, err := r.s.lastCommit()
	if err != nil || number > 0 {
		return number, err
	}
	it, err := r.s.db.NewIter(nil)
	if err != nil {
		return 0, readError(err)
	}
	if it.First() {
		err = fmt.Errorf("%w: the number of the last commit is missing", journal.ErrDamaged)
	}
	return 0, errors.Join(err, it.Close())
}

// marked returns the number in COMMIT, or 0 if that file does not exist.
func (r *Raw) marked() (uint64, error) {
	text, err := records.ReadFile(r.s.files, r.s.files.PathJoin(r.s.dir, records.MarkName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return records.MarkIn(text)
}
