package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// allRuns is the value of --resume that means all open runs.
const allRuns = "--all"

const (
	settleTime = 200 * time.Millisecond // after which an idle run leaves memory
	nearTime   = 10 * time.Second       // timers that are due within it are awaited
)

// resumeAll works on all open runs of a folder until none moves or a request to stop arrives.
func (f *runFlags) resumeAll(cmd *cobra.Command) error {
	known, err := f.participants()
	if err != nil {
		return cli.Refuse(err)
	}
	stops := listen(cli.ReaderGone(cmd.OutOrStdout()))
	defer stops.close()
	ctx, logger := cmd.Context(), slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	config := coordinator.Config{Directory: known, PassEnv: f.passEnv, Logger: logger, IdleTimeout: settleTime}
	f.worlds.configure(&config)
	store, err := folder.Take(ctx, f.data, disk.Config{Logger: logger})
	if err != nil {
		return cli.ExitOf(err)
	}
	var open []string
	for head, err := range store.Heads(ctx, "") {
		if err == nil && head.Open && journal.ParentRun(head.Run) == "" {
			open = append(open, head.Run) // in order of id
		}
	}
	engine, err := coordinator.New(ctx, store, config)
	if err != nil {
		return cli.ExitOf(err)
	}
	if _, err := control.Serve(f.data, engine); err != nil {
		logger.Warn("other processes cannot send commands to the runs while they go on", "error", err)
	}
	interrupted := awaitIdle(engine, stops)
	failed, err := f.printStatuses(ctx, cmd, engine, open)
	if err = errors.Join(err, shutdown(ctx, engine)); err != nil {
		return cli.ExitOf(err)
	}
	switch {
	case interrupted:
		return &cli.Exit{Code: cli.Interrupted}
	case failed:
		return cli.Fail(nil)
	}
	return nil
}

// awaitIdle returns when no run of the engine moves, or, with true, at the first request to stop.
func awaitIdle(engine *coordinator.Engine, stops *interrupts) (interrupted bool) {
	tick := time.NewTicker(settleTime / 4)
	defer tick.Stop()
	for engine.Moving(nearTime) {
		select {
		case <-stops.first():
			return true
		case <-tick.C:
		}
	}
	return false
}

// printStatuses prints the number of runs by status, and reports whether one has failed or cannot go on. The ids in runs must be sorted.
func (f *runFlags) printStatuses(ctx context.Context, cmd *cobra.Command, engine *coordinator.Engine, runs []string) (failed bool, err error) {
	counts := map[string]int{}
	for head, err := range engine.Runs(ctx, "") {
		if err != nil {
			return failed, err
		}
		if _, was := slices.BinarySearch(runs, head.Run); !was {
			continue
		}
		status := head.Status
		if errors.Is(engine.Parked(ctx, &head), coordinator.ErrParked) {
			status = "parked"
		}
		if engine.Held(head.Run) {
			status = "held"
		}
		failed = failed || status == "parked" || !head.Open && status != string(reactive.RunCompleted)
		counts[status]++
	}
	parts := []string{}
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
	}
	if len(parts) == 0 {
		parts = append(parts, "no run was open")
	}
	fmt.Fprintln(cmd.OutOrStdout(), strings.Join(parts, ", "))
	return failed, nil
}

// shutdown ends an engine as the end of a session does.
func shutdown(ctx context.Context, engine *coordinator.Engine) error {
	ctx, cancel := context.WithTimeout(ctx, graceTime)
	defer cancel()
	return engine.Shutdown(ctx)
}
