package sluice

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// Open starts an engine whose journal lives in a directory, made if it is not there, and goes on with the runs it finds in
// it that have not finished. With dir "" the journal lives in memory and ends with the process.
//
// Until Shutdown the engine answers on a socket in the directory, so that the command, or package control, shows its runs and
// steps into them from another process: `sluice runs --data DIR`. Who may write the directory may use the socket. Where none can
// be made, config.Logger is told at WARN, and the engine works without.
//
// One process at a time works on a directory: for another, also for a second engine in this one, Open returns
// journal.ErrLocked at once. A process that only looks at the directory has it open for a moment and is waited for, at most
// three seconds or until ctx ends.
func Open(ctx context.Context, dir string, config coordinator.Config) (*coordinator.Engine, error) {
	if dir == "" {
		return coordinator.New(ctx, memory.New(), config)
	}
	store, err := control.Take(ctx, dir, disk.Config{Logger: config.Logger})
	if err != nil {
		return nil, err
	}
	engine, err := coordinator.New(ctx, store, config)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if _, err := control.Serve(dir, engine); err != nil {
		logger := usercode.Logger(cmp.Or(config.Logger, slog.Default()))
		logger.Warn("other processes cannot see the engine's runs or step into them", "dir", dir, "error", err)
	}
	return engine, nil
}
