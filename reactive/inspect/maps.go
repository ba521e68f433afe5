package inspect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// MapCount is the progress of the items of a map.
type MapCount struct {
	Map     string // its key
	In      string // key of the map whose item contains it; "": none
	Items   int    // number of items
	OK      int    // ended items with every step completed or skipped
	Failed  int    // ended items with a step that failed for good or was aborted
	Running int    // items that have begun and not ended
}

// progress is the progress of a node or an item.
type progress uint8

const (
	absent progress = iota
	unbegun
	active
	good
	bad
)

// item counts the nodes of an item of a map, by their progress.
type item [bad + 1]int32

// progress returns the progress of the item.
func (i *item) progress() progress {
	switch {
	case i[active] > 0 || i[unbegun] > 0 && i[good]+i[bad] > 0:
		return active
	case i[unbegun] > 0:
		return unbegun
	case i[bad] > 0:
		return bad
	case i[good] > 0:
		return good
	}
	return absent
}

// counted is a map whose items are counted.
type counted struct {
	MapCount
	items   []item
	changed bool // since the last report
}

// tallies counts the items of a run's maps, and the pending retries. The work of a change does not depend on the number of items.
type tallies struct {
	root    *reactive.Root
	was     []progress // by node
	maps    map[string]*counted
	changed []*counted     // each once
	pending map[int32]bool // nodes with a pending retry, which may begin and end without a change of status
	again   []int32        // nodes whose retry has become pending, or is no longer pending, since the last report
}

// tally returns the current counts.
func tally(root *reactive.Root) *tallies {
	t := &tallies{root: root, maps: map[string]*counted{}, pending: map[int32]bool{}}
	for v := range root.Len() {
		t.note(v)
	}
	t.take()
	t.again = nil
	return t
}

// apply takes an event and the changes of statuses that it has caused.
func (t *tallies) apply(e *journal.Event, changes []reactive.Change) {
	for i := range changes {
		if changes[i].Call == nil {
			t.note(changes[i].Node)
		}
	}
	if v, ok := t.root.Node(e.Node); ok {
		t.note(v)
	}
	switch e.Type {
	case journal.CallRequested, journal.DispatchCreated, journal.MessageReceived, journal.TimerFired:
		return
	case journal.CallResponded, journal.CallCompleted, journal.CallError, journal.CallSkipped:
		if t.root.Plan().Workflow.FailurePolicy != template.AbortDependents {
			return
		}
	}
	for v := range t.pending { // the event may have ended pending retries
		t.note(v)
	}
}

// note records the progress of a node, which may be part of an item.
func (t *tallies) note(v int32) {
	place := t.root.Place(v)
	if place.Key == "" {
		return
	}
	if again := t.root.Pending(v); again != t.pending[v] {
		t.again = append(t.again, v)
		if t.pending[v] = again; !again {
			delete(t.pending, v)
		}
	}
	if place.Map < 0 {
		return
	}
	t.was = append(t.was, make([]progress, max(0, int(v)+1-len(t.was)))...)
	now := t.progress(v)
	if now == t.was[v] {
		return
	}
	m, index := t.around(place.Map, t.root.Key(v))
	m.items = append(m.items, make([]item, max(0, index+1-len(m.items)))...)
	i := &m.items[index]
	m.count(i.progress(), -1)
	if t.was[v] != absent {
		i[t.was[v]]--
	}
	if now != absent {
		i[now]++
	}
	m.count(i.progress(), 1)
	if t.was[v] = now; !m.changed {
		m.changed, t.changed = true, append(t.changed, m)
	}
}

// progress returns the progress of a node.
func (t *tallies) progress(v int32) progress {
	switch s := t.root.Status(v); {
	case s == reactive.Absent:
		return absent
	case s == reactive.Ready || s == reactive.Running || s.Terminal() && t.root.Pending(v):
		return active
	case s == reactive.Completed || s == reactive.Skipped:
		return good
	case s == reactive.Failed || s == reactive.Aborted:
		return bad
	}
	return unbegun
}

// count adds n to the number of items with a progress.
func (m *counted) count(p progress, n int) {
	if p != absent {
		m.Items += n
	}
	switch p {
	case active:
		m.Running += n
	case good:
		m.OK += n
	case bad:
		m.Failed += n
	}
}

// around returns the map with a row whose item contains the node with a key, and the index of the item.
func (t *tallies) around(row int32, key string) (m *counted, index int) {
	name, outer, index := mapAround(t.root.Plan(), row, key)
	if m = t.maps[name]; m == nil {
		m = &counted{MapCount: MapCount{Map: name, In: outer}}
		t.maps[name] = m
	}
	return m, index
}

// mapAround returns the key of the map with a row around the node with a key, the key of the map around that map, and the index of
// the item.
func mapAround(p *plan.Plan, row int32, key string) (name, outer string, index int) {
	last := strings.LastIndexByte(key, '[')
	index, _ = strconv.Atoi(key[last+1 : len(key)-1]) // keys are made by the root
	indexes := key[strings.IndexByte(key, '['):last]
	if up := p.Nodes[row].Map; up >= 0 {
		outer = p.Keys[up] + indexes[:strings.LastIndexByte(indexes, '[')]
	}
	return p.Keys[row] + indexes, outer, index
}

// reattempts returns the steps with unchanged statuses whose retry has become pending, or is no longer pending.
func (t *tallies) reattempts(changes []reactive.Change) (list []StepChange) {
	changed := map[int32]bool{}
	if len(t.again) > 0 {
		for i := range changes {
			changed[changes[i].Node] = true
		}
	}
	for _, v := range t.again {
		if !changed[v] {
			s := t.root.Status(v)
			list = append(list, StepChange{
				Step: t.root.Key(v), Map: mapOf(t.root, v), From: s, To: s, Attempt: t.root.Attempt(v), Pending: t.root.Pending(v), Failure: t.root.Failure(v),
			})
		}
	}
	t.again = nil
	return list
}

// take returns the counts that have changed since the last call.
func (t *tallies) take() (list []MapCount) {
	for _, m := range t.changed {
		m.changed = false
		list = append(list, m.MapCount)
	}
	t.changed = nil
	return list
}

// all returns the counts of all maps with items.
func (t *tallies) all() (list []MapCount) {
	for _, m := range t.maps {
		if m.Items > 0 {
			list = append(list, m.MapCount)
		}
	}
	slices.SortFunc(list, func(a, b MapCount) int { return strings.Compare(a.Map, b.Map) })
	return list
}

// mapOf returns the key of the map whose item contains a node, or "".
func mapOf(root *reactive.Root, v int32) string {
	row := root.Place(v).Map
	if row < 0 {
		return ""
	}
	name, _, _ := mapAround(root.Plan(), row, root.Key(v))
	return name
}

// loopOf returns the key of the step-run with a loop whose iteration contains a call, or "".
func loopOf(call string) string {
	if run, _, found := strings.Cut(call, "["); found && strings.Contains(run, "@") {
		return run
	}
	return ""
}
