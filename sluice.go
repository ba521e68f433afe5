package sluice

import (
	"context"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// Open starts an engine whose journal lives in a directory, made if it is not there, and goes on with the runs it finds in
// it that have not finished. With dir "" the journal lives in memory and ends with the process. One process at a time may
// have a directory open; another gets journal.ErrLocked.
func Open(ctx context.Context, dir string, config coordinator.Config) (*coordinator.Engine, error) {
	store := journal.Store(memory.New())
	if dir != "" {
		var err error
		if store, err = disk.Open(dir, disk.Config{Logger: config.Logger}); err != nil {
			return nil, err
		}
	}
	return coordinator.New(ctx, store, config)
}
