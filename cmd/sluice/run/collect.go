package run

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/retention"
)

// A host deletes expired runs at intervals of the shortest time of its rules, within these bounds.
const (
	collectOften  = time.Second
	collectSeldom = time.Hour
)

// collectPeriodically deletes expired runs at start, when the rules change, and periodically until ctx ends. Without rules it logs once
// the amount that the default rule would free.
func collectPeriodically(ctx context.Context, engine *coordinator.Engine, logger *slog.Logger) {
	changed, later := make(chan []retention.Rule), collectSeldom
	go watchRules(ctx, engine, logger, changed)
	next := time.NewTimer(collectSeldom)
	defer next.Stop()
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case rules := <-changed:
			later = collectSeldom
			if shortest, ok := retention.Shortest(rules); ok {
				later = min(max(shortest, collectOften), collectSeldom)
			}
		case <-next.C:
		}
		if err := collectOnce(ctx, engine, logger, first); err != nil && ctx.Err() == nil {
			logger.Warn("cannot delete expired runs, trying again later", "error", err, "later", later)
		}
		next.Reset(later)
	}
}

// watchRules passes on the rules, now and whenever they change, until ctx ends.
func watchRules(ctx context.Context, engine *coordinator.Engine, logger *slog.Logger, changed chan<- []retention.Rule) {
	for rules, err := range engine.RuleChanges(ctx) {
		if err != nil && ctx.Err() == nil {
			logger.Warn("cannot read how long runs are kept; changes since then count later", "error", err, "later", collectSeldom)
		}
		select {
		case changed <- rules:
		case <-ctx.Done():
			return
		}
	}
}

func collectOnce(ctx context.Context, engine *coordinator.Engine, logger *slog.Logger, first bool) error {
	rules, err := engine.Rules(ctx)
	switch {
	case err != nil:
		return err
	case len(rules) > 0:
		done, err := engine.Collect(ctx, retention.Collection{Beside: true})
		if done.Runs+done.Definitions+done.Values > 0 {
			logger.Info("deleted expired runs", "runs", done.Runs, "definitions", done.Definitions, "blobs", done.Values, "bytes", done.Bytes)
		}
		return err
	case !first:
		return nil
	}
	would, err := engine.Collect(ctx, retention.Collection{Beside: true, Dry: true, Rules: []retention.Rule{{Keep: retention.Default}}})
	if err == nil {
		logger.Info("runs that have ended are kept forever; sluice keep 30d would free", "runs", would.Runs, "definitions", would.Definitions,
			"blobs", would.Values, "bytes", would.Bytes)
	}
	return err
}
