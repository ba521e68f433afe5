package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/commitlog"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// Bounds of the encoding of one append, large values included: of several events, so that no append delays others for long, and of
// one event, which cannot be divided. The first events of a stream cannot be divided either; their large values do not count.
const (
	BatchMaxBytes = 16 << 20
	EventMaxBytes = 64 << 20
)

// The sizes of a value's encoding beyond which it is stored outside of its event: the usual size, and the size for first events
// beyond BatchMaxBytes.
const spillBytes, spillFirstBytes = 32 << 10, 256

// Config configures a store. The zero Config is ready to use.
type Config struct {
	// FreeFloorBytes is the free space on the disk below which the store takes only removals and changes of the retention; below a
	// quarter of it, it takes no removals either. Negative: none. Default: 64 MiB.
	FreeFloorBytes int64

	// CacheBytes bounds the memory for data read from the disk. Default: 32 MiB.
	CacheBytes int64

	// QueueLen bounds the appends that wait for the committer. Further appends wait to enter the queue. Default: 1024.
	QueueLen int

	// Logger receives errors that no caller of the store sees. Default: none.
	Logger *slog.Logger

	// FS replaces the file system, for tests. It must not be shared with another process. Default: the operating system's.
	FS vfs.FS
}

// Store is a store in a directory. It is safe for concurrent use. Open it with Open.
type Store struct {
	cfg   Config
	files vfs.FS
	refusals
	shield    *shield.FS     // between files and commits
	commits   *commitlog.Log // between shield and db
	lock      io.Closer
	mark      *records.Mark
	place     *records.Place
	db        *pebble.DB
	live      *records.Live
	queue     chan *request
	committer *committer
	sweeps    journal.Sweeps
	sweeping  sync.Mutex    // held by SweepStreams
	space     records.Space // owned by the committer
	syncing   sync.Mutex    // held while a commit is visible but not durable
	newest    atomic.Uint64 // number of the last durable commit
	unlisted  bool          // indexes could not be added to a directory of an older program

	copying sync.Mutex   // held by Backup
	life    sync.RWMutex // held for reading while db is used; Close takes it for writing
	closed  atomic.Bool
	closing chan struct{} // closed when Close begins
	stopped chan struct{} // closed when the committer has ended

	headsRead, indexMade, indexWritten, blobsRead atomic.Int64 // see Work
}

var (
	_ journal.ContentStore = (*Store)(nil)
	_ journal.LeanStore    = (*Store)(nil)
)

// Open opens the store in a directory, creating both if they do not exist. One process at a time may have a directory open: in
// others, Open returns ErrLocked with the id of that process. It returns ErrVersion if a newer version of Sluice has written
// the directory, and ErrDamaged if it detects, without reading everything, that acknowledged data is missing or changed. If the
// disk is full, it opens the store for reading, and for removals if there is some room.
func Open(dir string, cfg Config) (*Store, error) {
	s := newStore(dir, cfg)
	err := s.start()
	if s.shield.Raised() {
		err = *s.readOnly.Load() // the first failure caused the later ones
	}
	if err != nil {
		_ = s.release() // nothing was written, so its errors do not matter
		return nil, fmt.Errorf("open journal %s: %w", dir, s.unopened(err))
	}
	go s.committer.run()
	return s, nil
}

// start opens the directory and makes the committer.
func (s *Store) start() error {
	number, err := s.open()
	if err != nil {
		return err
	}
	s.newest.Store(number)
	log, err := records.OpenChangeLog(s.db, number)
	s.committer = newCommitter(s, number, log)
	return err
}

func newStore(dir string, cfg Config) *Store {
	if cfg.FreeFloorBytes == 0 {
		cfg.FreeFloorBytes = 64 << 20
	}
	if cfg.CacheBytes <= 0 {
		cfg.CacheBytes = 32 << 20
	}
	if cfg.QueueLen <= 0 {
		cfg.QueueLen = 1024
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	files := cfg.FS
	if files == nil {
		files = vfs.Default
	}
	s := &Store{
		cfg: cfg, files: files, refusals: refusals{dir: dir, log: usercode.Logger(cfg.Logger), failed: make(chan struct{})}, place: records.NewPlace(files, cfg.FS == nil), live: records.NewLive(records.LiveStreams),
		space: records.Space{Files: files, Dir: dir, Floor: cfg.FreeFloorBytes},
		queue: make(chan *request, cfg.QueueLen), closing: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.stuck, s.getStuck = context.WithCancel(context.Background())
	s.shield = shield.New(files, func(path string, cause error) { _ = s.fail(path, cause) })
	s.commits = commitlog.New(s.shield, files.PathJoin(dir, records.DatabaseName))
	return s
}

// open takes the lock, checks the version, then the mark, then the database against the mark. It returns the number of the last commit.
func (s *Store) open() (number uint64, err error) {
	if err = records.MakeFolder(s.files, s.dir); err != nil {
		return 0, err
	}
	if err = s.takeLock(); err != nil {
		return 0, err
	}
	version, err := records.CheckVersion(s.files, s.dir)
	if err != nil {
		return 0, err
	}
	var marked uint64
	if s.mark, marked, err = records.OpenMark(s.files, s.dir); err != nil {
		return 0, err
	}
	if err = s.place.Hold(s.dir); err != nil {
		return 0, err
	}
	if err = s.openDatabase(marked); err != nil {
		return 0, err
	}
	if number, err = s.lastCommit(); err != nil {
		return 0, err
	}
	if number < marked {
		return 0, fmt.Errorf("%w: %s ends at commit %d, but %s says that commit %d was acknowledged: the newest are lost",
			journal.ErrDamaged, records.DatabaseName, number, records.MarkName, marked)
	}
	return number, s.complete(version)
}

// takeLock locks the directory for this process.
func (s *Store) takeLock() (err error) {
	path := s.files.PathJoin(s.dir, records.LockName)
	if s.cfg.FS != nil {
		s.lock, err = s.files.Lock(path)
		return err
	}
	if err = records.CheckLinks(s.dir); err == nil {
		s.lock, err = records.Lock(path)
	}
	return err
}

// openDatabase opens Pebble's directory. It closes a new database and opens it again, because the first log has an old format
// without a distinction between damage in the middle and a torn end.
func (s *Store) openDatabase(marked uint64) error {
	dir := s.files.PathJoin(s.dir, records.DatabaseName)
	desc, err := pebble.Peek(dir, s.files)
	if err == nil && !desc.Exists {
		err = records.Missing(s.files, dir, marked)
	}
	if err != nil {
		return readError(err)
	}
	if err = s.watch(&s.space, 0); err != nil && !desc.Exists {
		return err
	}
	if !desc.Exists {
		db, err := s.openPebble(dir, s.options())
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			return err
		}
	}
	s.db, err = s.openPebble(dir, s.options())
	if err == nil && !s.commits.HasManifest() { // otherwise a backup would have none, either
		err = s.flush()
	}
	return s.readFault(err)
}

// lastCommit reads the number of the last commit from the database.
func (s *Store) lastCommit() (uint64, error) {
	record, closer, err := s.db.Get(commitKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, readError(err)
	}
	defer closer.Close()
	content, err := unseal(record, commitKey)
	if err == nil && len(content) != 8 {
		err = fmt.Errorf("%w: it has %d bytes", journal.ErrDamaged, len(content))
	}
	if err != nil {
		return 0, fmt.Errorf("number of the last commit: %w", err)
	}
	return binary.BigEndian.Uint64(content), nil
}

// Close commits the queue, ends all readers, moves the log into tables and unlocks the directory. Later uses of the store
// return ErrClosed; closing again does nothing.
func (s *Store) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		<-s.stopped
		return nil
	}
	close(s.closing)
	<-s.stopped
	s.life.Lock() // readers finish their current page and begin no other
	defer s.life.Unlock()
	if err := errors.Join(s.flush(), s.release()); err != nil {
		return fmt.Errorf("close journal %s: %w", s.dir, err)
	}
	return nil
}

// flush moves the log into tables: a log that needs no replay cannot lose anything. On a disk that takes no writes Pebble
// would retry forever, so flush does nothing then.
func (s *Store) flush() error {
	if s.readOnly.Load() != nil {
		return nil
	}
	if err := s.checkWritten(); err != nil {
		return err
	}
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-s.failed:
		return *s.readOnly.Load()
	}
}

// release closes the files that open has opened, in the opposite order.
func (s *Store) release() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close(), s.commits.Close())
	}
	if s.mark != nil {
		errs = append(errs, s.mark.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}
