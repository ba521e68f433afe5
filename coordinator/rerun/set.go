package rerun

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// setting is a value that a person sets, in place of the output or input of a step.
type setting struct {
	place string // as it was written
	step  string // key in the run that has the settings
	input bool   // it sets the input of the step, otherwise its output
	path  []string
	value value.Value
}

type settings []setting

// parseSet reads places such as `steps.price.output.total`.
func parseSet(set map[string]any) (list settings, err error) {
	for _, place := range slices.Sorted(maps.Keys(set)) {
		s := setting{place: place}
		rest, ok := strings.CutPrefix(place, "steps.")
		out, in := strings.Index(rest, ".output"), strings.Index(rest, ".input")
		at, word := out, ".output"
		if at < 0 || in >= 0 && in < at {
			at, word, s.input = in, ".input", true
		}
		if !ok || at <= 0 {
			return nil, unclear(fmt.Sprintf("%q cannot be set: write steps.STEP.output or steps.STEP.input, with a path behind it", place))
		}
		s.step, rest = rest[:at], rest[at+len(word):]
		if rest != "" {
			path, ok := value.ParsePath(strings.TrimPrefix(rest, "."))
			if !ok || rest[0] != '.' {
				return nil, unclear(fmt.Sprintf("%q is not a path: write %s.key", place, place[:len(place)-len(rest)]))
			}
			s.path = path
		}
		if s.value, err = value.Own(set[place]); err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
		list = append(list, s)
	}
	return list, nil
}

func (l settings) empty() bool { return len(l) == 0 }

// wants names the steps of the run itself whose inputs are needed.
func (l settings) wants() map[string]bool {
	wanted := map[string]bool{}
	for i := range l {
		if l[i].input {
			wanted[l[i].step] = true
		}
	}
	return wanted
}

// output returns the setting of a step's output; nil: there is none.
func (l settings) output(step string) *setting {
	for i := range l {
		if l[i].step == step && !l[i].input {
			return &l[i]
		}
	}
	return nil
}

// below returns the settings of the child of a step.
func (l settings) below(step string) (inner settings) {
	for _, s := range l {
		if rest, ok := strings.CutPrefix(s.step, step+"/"); ok {
			s.step = rest
			inner = append(inner, s)
		}
	}
	return inner
}

// apply journals the settings. Without a selection, the steps that follow run again, and so do steps whose input is set.
func (k *keeping) apply() error {
	merged := map[string]*journal.Event{}
	list := slices.Clone(k.set)
	slices.SortStableFunc(list, func(a, b setting) int { // the others determine whether a branch may be taken again
		return cmp.Compare(number(k.skipped(&a)), number(k.skipped(&b)))
	})
	for i := range list {
		s := &list[i]
		if strings.Contains(s.step, "/") {
			if err := k.enter(s); err != nil {
				return err
			}
			continue
		}
		if err := k.applyOne(s, merged); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		k.events = append(k.events, *merged[name])
	}
	return nil
}

// enter repeats the step whose child has a setting.
func (k *keeping) enter(s *setting) error {
	row, indexes, err := k.locate(s.step)
	if err != nil {
		return fmt.Errorf("%s: %w", s.place, err)
	}
	k.repeat(row, indexes)
	return nil
}

// applyOne adds a setting to the events about steps.
func (k *keeping) applyOne(s *setting, merged map[string]*journal.Event) error {
	id, indexes, _ := plan.ParseKey(s.step)
	row, ok := k.s.root.Plan().Row(id)
	v, there := k.s.root.Node(s.step)
	switch _, kept := k.p.Row(id); {
	case !ok || !there || k.s.root.Row(v).Kind != plan.Step:
		return fmt.Errorf("%s: %w", s.place, k.unknown(s.step))
	case !kept:
		return fmt.Errorf("%s: %w: %q: the new workflow has no such step%s", s.place, decide.ErrStepNotFound, s.step, suggestion(k.prefix, s.step, k.p))
	}
	if err := k.hasEffect(s, v, row, indexes); err != nil {
		return err
	}
	name := s.step + "#" + strconv.FormatBool(s.input)
	e := merged[name]
	if e == nil {
		e = k.setEvent(v, s)
		if s.input && len(s.path) > 0 && e.Value == nil {
			if err := k.derive(e, v, s); err != nil {
				return err
			}
		}
		merged[name] = e
	}
	was := e.Value
	if e.Value, ok = replaced(was, s.path, s.value); !ok {
		return fmt.Errorf("%w: %s is not there: what step %q has is %s", decide.ErrNotPossible, s.place, s.step, shape(was, s.path))
	}
	if !k.sel.changed && k.sel.only == "" {
		k.repeat(row, indexes)
	}
	return nil
}

// carry keeps an input that was set in the old run, unless the options set it, its step is missing, or the input in the step's document
// has changed. The run above has the set inputs of its children, too.
func (k *keeping) carry() {
	set := map[string]bool{}
	for i := range k.set {
		if k.set[i].input {
			set[k.set[i].step] = true
		}
	}
	old := k.s.root.Plan()
	for _, e := range k.s.given {
		step, _, _ := strings.Cut(e.Node, "/")
		id, _, _ := plan.ParseKey(step)
		was, known := old.Row(id)
		now, there := k.p.Row(id)
		if set[e.Node] || !known || !there || k.p.Nodes[now].Kind != plan.Step ||
			!bytes.Equal(inputOf(&old.Nodes[was]), inputOf(&k.p.Nodes[now])) {
			continue
		}
		k.events = append(k.events, journal.Event{Type: journal.InputSet, Node: e.Node, Value: e.Value})
	}
}

// inputBeside returns, for a step with a result set by a person, the hash of the input that its call would have had: while that is the
// same, the result is kept. It returns nil if the input does not resolve.
func (k *keeping) inputBeside(v int32) []byte {
	input, failure := k.input(v)
	if failure != nil {
		return nil
	}
	hash, _, err := journal.HashOf(input)
	if err != nil {
		return nil
	}
	return hash[:]
}

// input returns the input that a step would have in the old run.
func (k *keeping) input(v int32) (any, *journal.Failure) {
	root := k.s.root
	if set, ok := root.InputFor(v); ok {
		return set, nil
	}
	in, failure := root.Input(v)
	if failure != nil || !root.Row(v).Func {
		return in, failure
	}
	args, _ := in.([]any)
	return k.m.Host(k.s.id, k.s.entry, root).Function(root.Place(v).Step.Func.Name, args)
}

// inputOf encodes the input in a step's document.
func inputOf(n *plan.Node) []byte {
	doc := n.Step.Document()
	return encoded(map[string]any{"input": doc["input"], "func": doc["func"]})
}

// skipped reports whether a setting is of a step whose branch was not taken.
func (k *keeping) skipped(s *setting) bool {
	v, there := k.s.root.Node(s.step)
	return there && k.s.root.Status(v) == reactive.Skipped && k.s.root.Look(v).Fact != ledger.Dropped
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// hasEffect returns the reason that a setting would have no effect: its step gets no result, or is in a branch that is not taken again.
func (k *keeping) hasEffect(s *setting, v, row int32, indexes []int) error {
	for flag, key := range map[string]string{"from": k.sel.from, "only": k.sel.only} {
		if step, _, _ := strings.Cut(key, "/"); !s.input && key != "" && step == s.step {
			return fmt.Errorf("%w: %s has no effect: --%s %s has that step run again, and a step whose output is set does not run: set its input, or leave out --%s",
				decide.ErrNotPossible, s.place, flag, k.prefix+key, flag)
		}
	}
	if s.input && k.sel.only != "" && !k.again.has(row, indexes) && k.s.result(v) != nil {
		return fmt.Errorf("%w: %s has no effect: --only %s has no other step run again", decide.ErrNotPossible, s.place, k.prefix+k.sel.only)
	}
	if !k.skipped(s) || k.sel.changed || k.renewed || k.again.has(row, indexes) {
		return nil
	}
	return fmt.Errorf("%w: %s has no effect: step %q of run %s was skipped, and nothing that runs again can change that", decide.ErrNotPossible, s.place, k.prefix+s.step, k.top())
}

// derive begins an event about an input with the input that the step would have had in the old run, for a step that was never asked,
// because its result was kept from another run.
func (k *keeping) derive(e *journal.Event, v int32, s *setting) error {
	in, failure := k.input(v)
	if failure != nil {
		return fmt.Errorf("%w: %s cannot be set: the input of step %q, which was not asked in run %s, does not resolve: %s: set the whole input",
			decide.ErrNotPossible, s.place, k.prefix+s.step, k.top(), failure.Message)
	}
	e.Value = in
	return nil
}

// setEvent returns the event about a step whose output or input is set, with its old value.
func (k *keeping) setEvent(v int32, s *setting) *journal.Event {
	key := k.prefix + s.step
	if s.input {
		return &journal.Event{Type: journal.InputSet, Node: key, Value: k.s.inputs[s.step]}
	}
	kept := &journal.Kept{Status: ledger.KeptCompleted}
	if k.s.root.Row(v).Decides {
		kept.Fulfillment = "fulfilled"
	}
	return &journal.Event{Type: journal.ResultKept, Node: key, Attempt: 1, Value: k.s.root.Output(v), Detail: &journal.Detail{Kept: kept}}
}

// replaced returns a value with another at a path. It reports false if the path does not exist.
func replaced(of any, path []string, by value.Value) (value.Value, bool) {
	if len(path) == 0 {
		return by, true
	}
	of, err := value.Of(of)
	if err != nil {
		return nil, false
	}
	switch of := of.(type) {
	case map[string]any:
		inner, ok := of[path[0]]
		if !ok {
			return nil, false
		}
		copied := maps.Clone(of)
		copied[path[0]], ok = replaced(inner, path[1:], by)
		return copied, ok
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(of) {
			return nil, false
		}
		copied := slices.Clone(of)
		var ok bool
		copied[i], ok = replaced(of[i], path[1:], by)
		return copied, ok
	}
	return nil, false
}

// shape describes the last existing value on a path.
func shape(of any, path []string) string {
	of, err := value.Of(of)
	if err != nil {
		return err.Error()
	}
	for _, name := range path {
		switch v := of.(type) {
		case map[string]any:
			inner, ok := v[name]
			if !ok {
				return fmt.Sprintf("an object with the keys %s", strings.Join(slices.Sorted(maps.Keys(v)), ", "))
			}
			of = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return fmt.Sprintf("a list of %d", len(v))
			}
			of = v[i]
		default:
			return journal.KindOf(of)
		}
	}
	return journal.KindOf(of)
}
