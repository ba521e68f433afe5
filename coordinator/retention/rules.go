package retention

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Forever is the time of a rule whose runs are never deleted.
const Forever time.Duration = -1

// Default is the time for which a new store keeps runs that have ended.
const Default = 30 * 24 * time.Hour

// RulesMax bounds the rules of a store.
const RulesMax = 100

// Rule is the time for which runs are kept after they have ended. If the queries of several rules select a run, the longest time counts;
// the rule without a query is for the runs that no other rule selects.
type Rule struct {
	Where string        // which runs, see package query; "": all others
	Keep  time.Duration // 0 or more and less than query.AgeLimit, or Forever
}

// ErrRule is wrapped by errors about rules that are refused.
var ErrRule = errors.New("retention: the rule is refused")

// Rules returns the rules, the one without a query first.
func (r Retention) Rules(ctx context.Context) ([]Rule, error) {
	if err := r.engine.CheckOpen(); err != nil {
		return nil, err
	}
	rules, _, err := r.read(ctx)
	return rules, r.engine.ReadError(ctx, err)
}

// RuleChanges yields the rules, and then again after each change, until ctx or the engine ends.
func (r Retention) RuleChanges(ctx context.Context) iter.Seq2[[]Rule, error] {
	return func(yield func([]Rule, error) bool) {
		rules, last, err := r.read(ctx)
		if err = errors.Join(r.engine.CheckOpen(), err); !yield(rules, r.engine.ReadError(ctx, err)) || err != nil {
			return
		}
		for e, err := range r.store.Tail(ctx, journal.RetentionStream, last+1) {
			if err == nil {
				rules, err = rulesOf(e.Value)
			}
			if !yield(rules, r.engine.ReadError(ctx, err)) || err != nil {
				return
			}
		}
	}
}

// Shortest returns the shortest time for which a rule keeps runs; false: all keep them for ever, or there are none.
func Shortest(rules []Rule) (shortest time.Duration, ok bool) {
	for _, rule := range rules {
		if rule.Keep != Forever && (!ok || rule.Keep < shortest) {
			shortest, ok = rule.Keep, true
		}
	}
	return shortest, ok
}

// Keep adds a rule, or replaces the one with the same query. actor is the author of the change.
func (r Retention) Keep(ctx context.Context, rule Rule, actor string) error {
	_, err := r.change(ctx, actor, false, addingRule(rule))
	return err
}

// PreviewKeep returns the event that Keep would journal, or the error with which it would refuse.
func (r Retention) PreviewKeep(ctx context.Context, rule Rule, actor string) (journal.Event, error) {
	return r.change(ctx, actor, true, addingRule(rule))
}

// check refuses an invalid time.
func (r *Rule) check() error {
	if r.Keep != Forever && (r.Keep < 0 || r.Keep >= query.AgeLimit) {
		return fmt.Errorf("%w: runs cannot be kept for %s: it is 0 or more and less than 200 years, or Forever", ErrRule, r.Keep)
	}
	return nil
}

// addingRule returns the change that adds a rule to others.
func addingRule(rule Rule) func([]Rule) ([]Rule, error) {
	return func(rules []Rule) ([]Rule, error) {
		q, err := query.Parse(rule.Where, time.Now())
		if err != nil {
			return nil, fmt.Errorf("%w: query: %w", ErrRule, err)
		}
		if err := rule.check(); err != nil {
			return nil, err
		}
		rule.Where = q.String()
		if rules = append(rulesWithout(rules, rule.Where), rule); len(rules) > RulesMax {
			return nil, fmt.Errorf("%w: there are %d, which is the most", ErrRule, RulesMax)
		}
		return rules, nil
	}
}

// ClearKeep removes the rule with a query. If all is true, it removes all rules: the store keeps everything from then on.
func (r Retention) ClearKeep(ctx context.Context, where string, all bool, actor string) error {
	_, err := r.change(ctx, actor, false, removingRules(where, all))
	return err
}

// PreviewClearKeep returns the event that ClearKeep would journal, or the error with which it would refuse.
func (r Retention) PreviewClearKeep(ctx context.Context, where string, all bool, actor string) (journal.Event, error) {
	return r.change(ctx, actor, true, removingRules(where, all))
}

// removingRules returns the change that removes rules from others.
func removingRules(where string, all bool) func([]Rule) ([]Rule, error) {
	return func(rules []Rule) ([]Rule, error) {
		q, err := query.Parse(where, time.Now())
		if err != nil {
			return nil, fmt.Errorf("%w: query: %w", ErrRule, err)
		}
		left := rulesWithout(rules, q.String())
		if !all && len(left) == len(rules) {
			return nil, fmt.Errorf("%w: there is none with the query %q", ErrRule, where)
		}
		if all {
			left = nil
		}
		return left, nil
	}
}

func rulesWithout(rules []Rule, where string) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(rule Rule) bool { return rule.Where == where })
}

// change replaces the rules, and returns the event with the new rules; if dry is true, it does not journal the event.
func (r Retention) change(ctx context.Context, actor string, dry bool, by func([]Rule) ([]Rule, error)) (e journal.Event, err error) {
	if err := errors.Join(r.engine.CheckOpen(), limits.CheckActor(actor)); err != nil {
		return e, err
	}
	for {
		rules, last, err := r.read(ctx)
		if err != nil {
			return e, r.engine.ReadError(ctx, err)
		}
		if rules, err = by(rules); err != nil {
			return e, err
		}
		if e = rulesEvent(r.engine.Now(), rules, actor); dry {
			e.Seq = last + 1
			return e, nil
		}
		if err = write(ctx, r.store, last, e); !errors.Is(err, journal.ErrConflict) {
			return e, r.engine.ReadError(ctx, err)
		}
	}
}

// Begin sets the default rule of an empty store. A store that accepts no writes stays unchanged.
func Begin(ctx context.Context, store journal.Store, now int64) error {
	for _, err := range store.Read(ctx, journal.RetentionStream, 1) {
		return ignoreDamage(err)
	}
	for range store.Changes(ctx, "") { // the least work, and not empty even if all runs were deleted
		return nil
	}
	for _, err := range store.Heads(ctx, "") {
		return ignoreDamage(err)
	}
	err := write(ctx, store, 0, rulesEvent(now, []Rule{{Keep: Default}}, ""))
	if errors.Is(err, journal.ErrConflict) || errors.Is(err, journal.ErrReadOnly) {
		return nil
	}
	return err
}

// ignoreDamage returns nil for an error about damage or another version, and any other error unchanged.
func ignoreDamage(err error) error {
	if errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) {
		return nil
	}
	return err
}

// read returns the rules, and the number of the last event.
func (r Retention) read(ctx context.Context) (rules []Rule, last uint64, err error) {
	for e, err := range r.store.Read(ctx, journal.RetentionStream, 1) {
		if err == nil {
			rules, err = rulesOf(e.Value)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read how long runs are kept: %w", err)
		}
		last = e.Seq
	}
	return rules, last, nil
}

// Check returns the fault of an event of the rules' stream.
func Check(e *journal.Event) error {
	if e.Type != journal.RetentionSet {
		return fmt.Errorf("%w: version %d of the rules is an event %s", journal.ErrDamaged, e.Seq, e.Type)
	}
	_, err := rulesOf(e.Value)
	return err
}

// rulesOf decodes the value of an event.
func rulesOf(v any) (rules []Rule, err error) {
	list, ok := v.([]any)
	for _, one := range list {
		members, _ := one.(map[string]any)
		where, isText := members["where"].(string)
		keep, isInt := members["keep"].(int64)
		ok = ok && isText && isInt
		rules = append(rules, Rule{where, time.Duration(keep)})
	}
	if !ok && v != nil {
		return nil, fmt.Errorf("%w: the value holds no rules", journal.ErrDamaged)
	}
	return rules, nil
}

// rulesEvent returns the event that sets the rules.
func rulesEvent(now int64, rules []Rule, actor string) journal.Event {
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Where, b.Where) })
	list := make([]any, len(rules))
	for i, rule := range rules {
		list[i] = map[string]any{"where": rule.Where, "keep": int64(rule.Keep)}
	}
	return journal.Event{Type: journal.RetentionSet, At: now, Value: list, Detail: &journal.Detail{Actor: actor}}
}

func write(ctx context.Context, store journal.Store, after uint64, e journal.Event) error {
	if _, err := store.Append(ctx, journal.RetentionStream, after, []journal.Event{e}, journal.Head{}); err != nil {
		return fmt.Errorf("set how long runs are kept: %w", err)
	}
	return nil
}

// times determines the time for which each run is kept.
type times struct {
	rest    time.Duration // for runs that no query selects
	queries []*query.Query
	keep    []time.Duration // by query
}

func timesOf(rules []Rule, now int64) (*times, error) {
	t := &times{rest: Forever}
	for _, rule := range rules {
		if rule.Keep >= query.AgeLimit { // an earlier version accepted it
			rule.Keep = Forever
		}
		if rule.Where == "" {
			t.rest = rule.Keep
			continue
		}
		q, err := query.Parse(rule.Where, time.Unix(0, now))
		if err != nil {
			return nil, fmt.Errorf("rule %q of how long runs are kept: %w", rule.Where, err)
		}
		t.queries, t.keep = append(t.queries, q), append(t.keep, rule.Keep)
	}
	return t, nil
}

// of returns the time for which a run is kept.
func (t *times) of(h *journal.Head) time.Duration {
	longest, found := time.Duration(0), false
	for i, q := range t.queries {
		if q.Matches(h) {
			longest, found = longer(longest, t.keep[i]), true
		}
	}
	if !found {
		return t.rest
	}
	return longest
}

func longer(a, b time.Duration) time.Duration {
	if a == Forever || b == Forever {
		return Forever
	}
	return max(a, b)
}

// least returns the shortest time of any run; false: all are kept for ever.
func (t *times) least() (least time.Duration, ok bool) {
	for _, keep := range append(slices.Clone(t.keep), t.rest) {
		if keep != Forever && (!ok || keep < least) {
			least, ok = keep, true
		}
	}
	return least, ok
}

// until returns the instant until which a run that has ended is kept; false: for ever.
func (t *times) until(h *journal.Head) (int64, bool) {
	keep := t.of(h)
	ended := h.Ended
	if ended == 0 {
		ended = h.Updated // an earlier version did not write the end
	}
	return ended + int64(keep), keep != Forever
}
