package run

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/retention"
)

// houseEvery is how often a host deletes what is not kept any more.
const houseEvery = time.Hour

// keepHouse deletes what is not kept any more, until ctx ends. Where everything is kept, it says once what the default would free.
func keepHouse(ctx context.Context, engine *coordinator.Engine, logger *slog.Logger) {
	tick := time.NewTicker(houseEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		if err := keepOnce(ctx, engine, logger, first); err != nil && ctx.Err() == nil {
			logger.Warn("cannot delete what is not kept any more, trying again later", "error", err, "later", houseEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func keepOnce(ctx context.Context, engine *coordinator.Engine, logger *slog.Logger, first bool) error {
	rules, err := engine.Rules(ctx)
	switch {
	case err != nil:
		return err
	case len(rules) > 0:
		done, err := engine.Collect(ctx, retention.Collection{Beside: true})
		if done.Runs+done.Definitions+done.Values > 0 {
			logger.Info("deleted what is not kept any more", "runs", done.Runs, "definitions", done.Definitions, "blobs", done.Values, "bytes", done.Bytes)
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
