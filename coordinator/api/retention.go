package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/expiry"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// The rules of retention, and deletions: see package expiry.
type (
	Rule      = expiry.Rule
	Gone      = expiry.Gone
	Collected = expiry.Collected
)

// Forever is the Keep of a rule that keeps its runs for ever.
const Forever = expiry.Forever

// KeepOf reads the age in a rule.
func KeepOf(text string) (retention.Rule, error) {
	if text == Forever {
		return retention.Rule{Keep: retention.Forever}, nil
	}
	keep, ok := query.ParseAge(text)
	if !ok {
		return retention.Rule{}, fmt.Errorf("%w: %q is no time to keep runs: it is a number and s, m, h, d or w, such as 30d, or %s; 200 years are too long", ErrBadRequest, clipped(text), Forever)
	}
	return retention.Rule{Keep: keep}, nil
}

// clipped returns the beginning of a text.
func clipped(text string) string {
	const most = 40
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// changeRule adds or removes a rule. With Dry, it only adds the event to done that would be journaled.
func changeRule(ctx context.Context, engine *coordinator.Engine, req *Request, done *Done) error {
	rule, err := retention.Rule{}, error(nil)
	if req.Keep != "" {
		rule, err = KeepOf(req.Keep)
		rule.Where = req.Query
	}
	var would journal.Event
	switch {
	case err != nil:
	case req.Keep == "" && req.Dry:
		would, err = engine.PreviewClearKeep(ctx, req.Query, req.Every, req.Actor)
	case req.Keep == "":
		err = engine.ClearKeep(ctx, req.Query, req.Every, req.Actor)
	case req.Dry:
		would, err = engine.PreviewKeep(ctx, rule, req.Actor)
	default:
		err = engine.Keep(ctx, rule, req.Actor)
	}
	if req.Dry && err == nil {
		done.addEvent(would)
	}
	if errors.Is(err, retention.ErrRule) {
		err = fmt.Errorf("%w: %s", ErrBadRequest, strings.TrimPrefix(err.Error(), retention.ErrRule.Error()+": "))
	}
	return err
}

// rules emits the rules.
func rules(ctx context.Context, engine *coordinator.Engine, emit func(*Reply) error) error {
	list, err := engine.Rules(ctx)
	for _, rule := range list {
		if err == nil {
			err = emit(&Reply{Rule: expiry.RuleOf(rule)})
		}
	}
	return err
}

// collect deletes expired runs and unused data, and emits each deletion.
func collect(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (*Collected, error) {
	how := retention.Collection{Dry: req.Dry, Beside: req.Beside, Found: func(g retention.Gone) error {
		return emit(&Reply{Gone: expiry.GoneOf(&g)})
	}}
	if req.Keep != "" {
		rule, err := KeepOf(req.Keep)
		if err != nil {
			return nil, err
		}
		how.Rules = []retention.Rule{rule}
	}
	c, err := engine.Collect(ctx, how)
	if err != nil {
		return nil, err
	}
	return expiry.CollectedOf(c), nil
}

// handleFolder carries out the requests about all runs.
func handleFolder(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (done *Done, err error) {
	done = &Done{Did: string(req.Verb), Dry: req.Dry}
	switch {
	case req.Verb.isAboutActs():
		err = manyRuns(ctx, engine, req, emit)
	case req.Verb == Retain:
		err = changeRule(ctx, engine, req, done)
	case req.Verb == Rules:
		err = rules(ctx, engine, emit)
	case req.Verb == Names:
		err = emitNames(ctx, engine, req, emit)
	default:
		done.Collected, err = collect(ctx, engine, req, emit)
	}
	return done, err
}
