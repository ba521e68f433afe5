package folder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// A process that has taken a directory must recover its journal before it serves requests; one that only reads, or sends a
// command, has the directory open for a moment.
const (
	lockedPause  = 20 * time.Millisecond
	takePatience = 3 * time.Second
)

var heldPatience = 10 * time.Second // a variable for tests

// Open returns a client for a directory: of the process that holds it, or else of a new engine, which goes on with no runs and
// therefore makes no calls. Config.PickUp is not used. While another process has the directory open and does not answer, Open
// waits, at most ten seconds; then it returns journal.ErrLocked. It creates no directory: if there is no journal, it returns
// ErrNoJournal. In place of a directory it takes the URL of a server, with the token in the environment.
func Open(ctx context.Context, dir string, config coordinator.Config) (c *Client, err error) {
	if client.IsURL(dir) {
		return remote(dir)
	}
	if err := hasJournal(dir); err != nil {
		return nil, api.ErrorOf(err)
	}
	return open(ctx, dir, config)
}

// hasJournal returns an error if there is no journal in a directory: ErrNoJournal, or journal.ErrDamaged if the directory has lost a part
// or belongs to another program. It returns nil if the directory cannot be read: opening it returns the error.
func hasJournal(dir string) error {
	switch holds, err := records.Holds(nil, dir); {
	case errors.Is(err, journal.ErrDamaged):
		return fmt.Errorf("open journal %s: %w", dir, err)
	case err == nil && !holds, errors.Is(err, syscall.ENOTDIR): // a file stands where a directory should
		return fmt.Errorf("%w in %s", api.ErrNoJournal, dir)
	}
	return nil
}

func open(ctx context.Context, dir string, config coordinator.Config) (c *Client, err error) {
	if client.IsURL(dir) {
		return remote(dir)
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

// ErrServed means that another process works on the runs of a directory and answers requests.
var ErrServed = errors.New("it works on the runs and answers commands")

// Take opens the store of a directory for an engine that is to work on it; Serve then serves requests of other processes. If
// another process does so already, Take returns journal.ErrLocked and ErrServed; it waits at most three seconds for a process that
// has the directory open and does not answer, because that one may only be reading.
func Take(ctx context.Context, dir string, config disk.Config) (s *disk.Store, err error) {
	err = whileLocked(ctx, takePatience, func() (again bool, err error) {
		if s, err = disk.Open(dir, config); !errors.Is(err, journal.ErrLocked) {
			return false, err
		}
		_, dialed := Dial(dir)
		if again = errors.Is(dialed, api.ErrNotHeld); !again {
			err = fmt.Errorf("%w: %w: sluice runs --data %s", err, ErrServed, dir)
		}
		return again, err
	})
	return s, err
}

// TakeRaw opens a directory with a journal for checking and mending, see disk.OpenRaw. It waits as Take does, and creates no
// directory: if there is no journal, it returns ErrNoJournal.
func TakeRaw(ctx context.Context, dir string, mend bool, config disk.Config) (r *disk.Raw, err error) {
	if err := hasJournal(dir); errors.Is(err, api.ErrNoJournal) {
		return nil, api.ErrorOf(err)
	}
	err = whileLocked(ctx, takePatience, func() (again bool, err error) {
		if r, err = disk.OpenRaw(dir, mend, config); !errors.Is(err, journal.ErrLocked) {
			return false, err
		}
		_, dialed := Dial(dir)
		return errors.Is(dialed, api.ErrNotHeld), err
	})
	return r, err
}

// whileLocked calls try again as long as the directory is locked and try asks for it.
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

// TokenVariable is the environment variable with the token for a server.
const TokenVariable = "SLUICE_TOKEN"

// remote returns a client of a server.
func remote(url string) (*Client, error) {
	c, err := client.Dial(url, os.Getenv(TokenVariable))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrBadRequest, err)
	}
	return &Client{ask: c.Ask, close: func() error { c.Close(); return nil }, held: true}, nil
}

// openAlone opens a directory that no process holds.
func openAlone(ctx context.Context, dir string, config coordinator.Config) (*Client, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	store, err := disk.Open(dir, disk.Config{Logger: config.Logger})
	if err != nil {
		return nil, err
	}
	config.NotesOnly = true
	engine, err := coordinator.New(ctx, store, config)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	c := Local(engine)
	c.close = func() error { return engine.Shutdown(context.WithoutCancel(ctx)) }
	return c, nil
}

// With calls use with a client that is closed afterwards. If the holder of the directory ends during that and nothing was
// done, With calls use once more.
func With(ctx context.Context, dir string, config coordinator.Config, use func(*Client) error) error {
	return with(use, func() (*Client, error) { return Open(ctx, dir, config) })
}

// WithNew is With for a directory that need not exist: it is made if no process holds it and there is none.
func WithNew(ctx context.Context, dir string, config coordinator.Config, use func(*Client) error) error {
	return with(use, func() (*Client, error) { return open(ctx, dir, config) })
}

func with(use func(*Client) error, open func() (*Client, error)) error {
	for again := true; ; again = false {
		c, err := open()
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
