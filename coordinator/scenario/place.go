package scenario

import (
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// place is the node or item that a name in an expectation means: a step, map or conditional of a run, or a whole item of a map.
type place struct {
	t    *track
	node int32
	item int // of the map that node is; -1: the node itself
}

// route finds the run that name is about, by the steps that started its child runs, and returns it with the rest of name.
func (g *execution) route(name string) (t *track, key string, ok bool) {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return g.main(), name, true
	}
	path := name[:slash+1]
	for i := len(g.tracks) - 1; i >= 0; i-- { // the newest attempt first
		if g.tracks[i].path == path {
			return g.tracks[i], name[slash+1:], true
		}
	}
	return nil, "", false
}

// find returns the place that name means, as an observer of the journals sees it. The name of a map with a further index means a
// whole item. Names are unambiguous, because ids are unique.
func (g *execution) find(name string) (place, bool) {
	t, key, ok := g.route(name)
	if !ok {
		return place{}, false
	}
	if v, ok := t.seen.Node(t.callKey(key)); ok {
		return place{t, v, -1}, true
	}
	open := strings.LastIndexByte(key, '[')
	if open < 0 || !strings.HasSuffix(key, "]") {
		return place{}, false
	}
	i, err := strconv.Atoi(key[open+1 : len(key)-1])
	v, ok := t.seen.Node(key[:open])
	if err != nil || !ok || t.seen.Row(v).Kind != plan.Map {
		return place{}, false
	}
	p := place{t, v, i}
	return p, len(p.body()) > 0
}

// body returns the named nodes of an item, in template order, or nil if the map has no such item.
func (p place) body() []int32 {
	root := p.t.seen
	key := root.Key(p.node)
	row, _ := root.Plan().Row(script.Stem(key))
	var nodes []int32
	for r := row + 1; r < root.Plan().Nodes[row].End; r++ {
		n := &root.Plan().Nodes[r]
		if n.Map != row || n.Key == "" {
			continue
		}
		if v, ok := root.Node(itemKey(n.Key, key, p.item)); ok {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// status returns the status of the place.
func (p place) status() reactive.Status {
	if p.item < 0 {
		return p.t.seen.Status(p.node)
	}
	nodes := p.body()
	if len(nodes) == 1 {
		return p.t.seen.Status(nodes[0])
	}
	return p.itemStatus(nodes)
}

// itemStatus returns the status of an item with several steps. The item is running from its first request to its last end. Then it
// has failed if one of its steps failed and no test of the body reads that step.
func (p place) itemStatus(nodes []int32) reactive.Status {
	ended, moved := true, false
	end := reactive.Completed
	for _, v := range nodes {
		s := p.t.seen.Status(v)
		ended = ended && p.t.seen.Final(v)
		moved = moved || s >= reactive.Running
		switch {
		case s == reactive.Failed && !p.t.seen.Tested(v):
			end = reactive.Failed
		case s == reactive.Aborted && end == reactive.Completed && p.t.seen.Status(p.node) == reactive.Aborted:
			end = reactive.Aborted
		}
	}
	switch {
	case ended:
		return end
	case moved:
		return reactive.Running
	}
	return reactive.Waiting
}

// output returns the output of the place, or false if it has none yet.
func (p place) output() (any, bool) {
	switch p.status() {
	case reactive.Skipped:
		return nil, true
	case reactive.Completed:
	default:
		return nil, false
	}
	if p.item < 0 {
		return p.t.seen.Output(p.node), true
	}
	nodes := p.body()
	return p.t.seen.Output(nodes[len(nodes)-1]), true
}

// failure returns the failure of the place, or nil if it is an item or has not failed.
func (p place) failure() *journal.Failure {
	if p.item >= 0 || p.status() != reactive.Failed {
		return nil
	}
	return p.t.seen.Failure(p.node)
}

// by returns the event that last changed the status of the place.
func (p place) by() *Event {
	if p.item < 0 {
		return p.t.event(p.t.by(p.node))
	}
	last := -1
	for _, v := range p.body() {
		last = max(last, p.t.by(v))
	}
	return p.t.event(last)
}

// latest returns the latest event about the node.
func (p place) latest() *Event {
	key := p.t.seen.Key(p.node)
	return p.t.event(p.t.last(func(e *journal.Event) bool { return e.Node == key }))
}
