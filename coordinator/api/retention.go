package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/retention"
)

// Rule says how long runs are kept after they have ended, see retention.Rule.
type Rule struct {
	Where string `json:"where,omitempty"` // which runs; "": those that no other rule selects
	Keep  string `json:"keep"`            // an age such as 30d, or Forever
}

// Forever is the Keep of a rule whose runs are never deleted.
const Forever = "forever"

// KeepOf reads the time of a rule.
func KeepOf(text string) (retention.Rule, error) {
	if text == Forever {
		return retention.Rule{Keep: retention.Forever}, nil
	}
	keep, ok := query.ParseAge(text)
	if !ok {
		return retention.Rule{}, fmt.Errorf("%w: %q is no time to keep runs: it is a number and s, m, h, d or w, such as 30d, or %s", ErrBadRequest, short(text), Forever)
	}
	return retention.Rule{Keep: keep}, nil
}

// short returns the beginning of a text.
func short(text string) string {
	const most = 40
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// Gone is something that was deleted because it is not kept any more, or would be.
type Gone struct {
	Kind  string `json:"kind"`            // run, definition, blob, or content of a world
	Name  string `json:"name"`            // id of the run, or hash
	Blobs int    `json:"blobs,omitempty"` // of content
	Bytes int64  `json:"bytes,omitempty"` // about; not of content
}

// Collected counts what was deleted because it is not kept any more, or would be.
type Collected struct {
	Runs        int   `json:"runs"`             // with those below them
	Definitions int   `json:"definitions"`      // to which no run and no name refers any more
	Blobs       int   `json:"blobs"`            // large values
	Content     int   `json:"content"`          // blobs that worlds do not need any more
	Bytes       int64 `json:"bytes"`            // of all but content, about
	Failed      int   `json:"failed,omitempty"` // runs that cannot be read, and stay
}

// retain adds or removes a rule.
func retain(ctx context.Context, engine *coordinator.Engine, req *Request) error {
	var err error
	if req.Keep == "" {
		err = engine.ClearKeep(ctx, req.Query, req.Every, req.Actor)
	} else {
		var rule retention.Rule
		if rule, err = KeepOf(req.Keep); err == nil {
			rule.Where = req.Query
			err = engine.Keep(ctx, rule, req.Actor)
		}
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
		keep := Forever
		if rule.Keep != retention.Forever {
			keep = query.FormatAge(rule.Keep)
		}
		if err == nil {
			err = emit(&Reply{Rule: &Rule{rule.Where, keep}})
		}
	}
	return err
}

// collect deletes what is not kept any more, and emits what that is.
func collect(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (*Collected, error) {
	how := retention.Collection{Dry: req.Dry, Beside: req.Beside, Found: func(g retention.Gone) error {
		return emit(&Reply{Gone: &Gone{g.Kind, g.Name, g.Blobs, g.Bytes}})
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
	return &Collected{c.Runs, c.Definitions, c.Values, c.Content, c.Bytes, c.Failed}, nil
}

// ofFolder carries out the requests that are about all runs.
func ofFolder(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (done *Done, err error) {
	done = &Done{Did: string(req.Verb)}
	switch {
	case req.Verb.ofMany():
		err = manyRuns(ctx, engine, req, emit)
	case req.Verb == Retain:
		err = retain(ctx, engine, req)
	case req.Verb == Rules:
		err = rules(ctx, engine, emit)
	case req.Verb == Names:
		err = names(ctx, engine, req, emit)
	default:
		done.Collected, err = collect(ctx, engine, req, emit)
	}
	return done, err
}
