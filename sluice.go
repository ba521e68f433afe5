package sluice

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// Open starts an engine with a journal in the directory dir, which it creates if necessary, and continues the unfinished runs
// in it. If dir is "", the journal is in memory and ends with the process.
//
// Until Shutdown the engine serves a socket in the directory: the command sluice, or package folder, can show its runs and
// send them commands from another process: `sluice runs --data DIR`. Users who may write the directory may use the socket. If
// no socket can be made, the engine logs that at WARN and works without a socket.
//
// One process at a time works on a directory: for any other, and for a second engine in the same process, Open returns
// journal.ErrLocked at once. It waits for a process that only reads the directory, at most three seconds or until ctx ends.
func Open(ctx context.Context, dir string, config coordinator.Config) (*coordinator.Engine, error) {
	if dir == "" {
		return coordinator.New(ctx, memory.New(), config)
	}
	store, err := folder.Take(ctx, dir, disk.Config{Logger: config.Logger})
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
