package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// journalFile is a file that every directory with a journal has, see package disk.
const journalFile = "VERSION"

// Between taking a directory and answering for it, a process has to recover its journal; and who only looks at a
// directory, or makes a wish, has it open for a moment.
const (
	lockedPause  = 20 * time.Millisecond
	takePatience = 3 * time.Second
)

var heldPatience = 10 * time.Second // a variable for tests

// Open gives a client for a directory: of the process that holds it, or else of an engine of its own, which goes on with
// no runs and therefore makes no calls. Config.PickUp is not used. While another process has the directory open and does
// not answer, Open waits, at most ten seconds; then it returns journal.ErrLocked. It makes no directory: where there is no
// journal, it returns ErrNoJournal.
func Open(ctx context.Context, dir string, config coordinator.Config) (c *Client, err error) {
	if _, err := os.Stat(filepath.Join(dir, journalFile)); errors.Is(err, os.ErrNotExist) {
		return nil, api.ErrorOf(fmt.Errorf("%w in %s", api.ErrNoJournal, dir))
	}
	err = whileLocked(ctx, heldPatience, func() (again bool, err error) {
		if c, err = Dial(dir); errors.Is(err, api.ErrNotHeld) {
			c, err = openAlone(ctx, dir, config)
		}
		return true, err
	})
	if err != nil {
		return nil, api.ErrorOf(err)
	}
	return c, nil
}

// Take opens the store of a directory for an engine that is to work on it; Serve then lets others step in. Where another
// process does so already, Take returns journal.ErrLocked; one that has the directory open and answers nobody is waited
// for, at most three seconds, because it may only be looking.
func Take(ctx context.Context, dir string, config disk.Config) (s *disk.Store, err error) {
	err = whileLocked(ctx, takePatience, func() (again bool, err error) {
		if s, err = disk.Open(dir, config); !errors.Is(err, journal.ErrLocked) {
			return false, err
		}
		_, nobody := Dial(dir)
		if again = errors.Is(nobody, api.ErrNotHeld); !again {
			err = fmt.Errorf("%w: it works on the runs, and answers for them: sluice runs --data %s", err, dir)
		}
		return again, err
	})
	return s, err
}

// TakeRaw opens a directory with a journal to be checked and mended, see disk.OpenRaw. It waits as Take does, and makes no
// directory: where there is no journal, it returns ErrNoJournal.
func TakeRaw(ctx context.Context, dir string, mend bool, config disk.Config) (r *disk.Raw, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && !slices.ContainsFunc(entries, isJournal) {
		return nil, api.ErrorOf(fmt.Errorf("%w in %s", api.ErrNoJournal, dir))
	}
	err = whileLocked(ctx, takePatience, func() (again bool, err error) {
		if r, err = disk.OpenRaw(dir, mend, config); !errors.Is(err, journal.ErrLocked) {
			return false, err
		}
		_, nobody := Dial(dir)
		return errors.Is(nobody, api.ErrNotHeld), err
	})
	return r, err
}

// isJournal tells what a directory with a journal has, even where one of both is lost.
func isJournal(entry os.DirEntry) bool { return entry.Name() == journalFile || entry.Name() == "db" }

// whileLocked tries again while a directory is locked and try wants so.
func whileLocked(ctx context.Context, patience time.Duration, try func() (again bool, err error)) error {
	impatient := time.NewTimer(patience)
	defer impatient.Stop()
	for {
		again, err := try()
		if !again || !errors.Is(err, journal.ErrLocked) {
			return err
		}
		pause := time.NewTimer(lockedPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return cancelled.Error(ctx)
		case <-impatient.C:
			pause.Stop()
			return fmt.Errorf("%w, and does not answer", err)
		case <-pause.C:
		}
	}
}

// openAlone opens a directory that nobody holds.
func openAlone(ctx context.Context, dir string, config coordinator.Config) (*Client, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	store, err := disk.Open(dir, disk.Config{Logger: config.Logger})
	if err != nil {
		return nil, err
	}
	config.PickUp = func(journal.Head) bool { return false }
	engine, err := coordinator.New(ctx, store, config)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	c := Local(engine)
	c.close = func() error { return engine.Shutdown(context.WithoutCancel(ctx)) }
	return c, nil
}

// With calls use with a client that is open for as long. When the process that holds the directory ends just then, so that
// nothing was done, use is called once more.
func With(ctx context.Context, dir string, config coordinator.Config, use func(*Client) error) error {
	for again := true; ; again = false {
		c, err := Open(ctx, dir, config)
		if err != nil {
			return err
		}
		err = errors.Join(use(c), c.Close())
		if again && (errors.Is(err, api.ErrNotHeld) || errors.Is(err, coordinator.ErrShutdown)) {
			continue
		}
		return err
	}
}
