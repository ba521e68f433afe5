package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// journalFile is a file that every directory with a journal has, see package disk.
const journalFile = "VERSION"

// Between taking a directory and answering for it, a process has to recover its journal; and somebody else may have it
// open for the moment that a wish takes.
const heldPause = 20 * time.Millisecond

var heldPatience = 10 * time.Second // a variable for tests

// Open gives a client for a directory: of the process that holds it, or else of an engine of its own, which goes on with
// no runs and therefore makes no calls. Config.PickUp is not used. While another process has the directory open and does
// not answer, Open waits, at most ten seconds; then it returns journal.ErrLocked. It makes no directory: where there is no
// journal, it returns ErrNoJournal.
func Open(ctx context.Context, dir string, config coordinator.Config) (*Client, error) {
	c, err := open(ctx, dir, config)
	if err != nil {
		return nil, problem(err)
	}
	return c, nil
}

func open(ctx context.Context, dir string, config coordinator.Config) (*Client, error) {
	if _, err := os.Stat(filepath.Join(dir, journalFile)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w in %s", ErrNoJournal, dir)
		}
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, heldPatience, errSilent)
	defer cancel()
	for {
		c, err := Dial(dir)
		if !errors.Is(err, ErrNotHeld) {
			return c, err
		}
		c, err = openAlone(ctx, dir, config)
		if !errors.Is(err, journal.ErrLocked) {
			return c, err
		}
		timer := time.NewTimer(heldPause)
		select {
		case <-ctx.Done():
			timer.Stop()
			if cause := context.Cause(ctx); cause != errSilent {
				return nil, cause
			}
			return nil, fmt.Errorf("%w, and does not answer", err)
		case <-timer.C:
		}
	}
}

var errSilent = errors.New("the holder of the directory does not answer")

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
		if again && (errors.Is(err, ErrNotHeld) || errors.Is(err, coordinator.ErrShutdown)) {
			continue
		}
		return err
	}
}
