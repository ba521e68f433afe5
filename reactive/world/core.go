package world

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/recent"
	"github.com/sluiceflow/sluice/template/machine"
)

// Besides the states of cells, a snapshot has these values: the work of each cell that is not at rest, and the core, which has
// all state that does not belong to a cell.

// freezeCore returns the current core.
func (w *World) freezeCore() func() map[string]any {
	t := w.tally
	core := map[string]any{
		"tally":   []any{int64(t.Messages), int64(t.Stepped), int64(t.Ignored), int64(t.Failed), int64(t.Faults), int64(t.Dropped), int64(t.Gaps)},
		"opened":  int64(w.intents.opened),
		"at":      w.root.At(),
		"stopped": w.root.Stopped(), "above": w.root.PausedFromAbove(),
	}
	var turns, faults, granted []any
	awake := map[string]bool{} // cells that must be in memory when the world continues
	for _, x := range w.intents.byNode {
		awake[x.cell.address] = true
	}
	for _, x := range w.intents.inOrder() {
		if w.calls.Granted(x.node) {
			granted = append(granted, x.key)
		}
	}
	for c := range w.ring.All {
		turns = append(turns, c.address)
		awake[c.address] = true
	}
	for _, f := range w.faults {
		faults = append(faults, []any{f.cell.address, int64(f.seq), kept.FailureValue(f.failure)})
		awake[f.cell.address] = true
	}
	core["turns"], core["faults"], core["granted"] = turns, faults, granted
	list := w.recent.List()
	return func() map[string]any {
		core["ids"] = recent.Value(list)
		cells := []any{}
		for _, address := range slices.Sorted(maps.Keys(awake)) {
			cells = append(cells, address)
		}
		core["awake"] = cells
		return core
	}
}

// freezeWork returns all of a cell except its state.
func (c *cell) freezeWork() map[string]any {
	work := map[string]any{}
	if c.failure != nil {
		work["failure"] = kept.FailureValue(c.failure)
	}
	if c.aside != nil {
		work["aside"] = c.aside.freeze()
	}
	if c.paused {
		work["paused"] = true
	}
	if c.completed && c.machine.Process { // it has no meaning for an entity
		work["completed"] = true
	}
	var mail, open []any
	for _, it := range c.mail.items[c.mail.first:] {
		mail = append(mail, it.freeze())
	}
	for x := c.open.first; x != nil; x = x.after {
		open = append(open, x.freeze())
	}
	if mail != nil {
		work["mail"] = mail
	}
	if open != nil {
		work[kept.Open] = open
	}
	return work
}

func (it *item) freeze() []any {
	return []any{int64(it.seq), int64(it.depth), int64(it.event.Kind), it.event.Name, it.event.Value}
}

func (x *intent) freeze() map[string]any {
	v := map[string]any{kept.Key: x.key, "emitted": int64(x.emitted), kept.Order: int64(x.order)}
	if x.effect == nil {
		v[kept.Timer], v[kept.Due] = x.timer, x.due
		return v
	}
	v["effect"], v["id"], v["params"], v["issuer"], v["asked"] = x.effect.Name, x.id, x.params, x.issuer, x.asked
	if x.fault != nil {
		v["fault"] = kept.FailureValue(x.fault)
	}
	if x.signed != nil {
		v["signature"] = x.signed
	}
	reported := map[string]any{}
	for participant, f := range x.frames {
		reported[participant] = []any{int64(f.attempt), int64(f.number)}
	}
	if len(reported) > 0 {
		v["frames"] = reported
	}
	return v
}

// CallEvents yields the events so far of the open calls. Only a world with content keeps them.
func (h *holdings) CallEvents() iter.Seq[*journal.Event] {
	return func(yield func(*journal.Event) bool) {
		for _, x := range h.intents.inOrder() {
			for i := range x.events {
				if !yield(&x.events[i]) {
					return
				}
			}
		}
	}
}

// inOrder returns the open calls in the order of their opening.
func (s *intents) inOrder() []*intent {
	list := slices.Collect(maps.Values(s.byNode))
	slices.SortFunc(list, func(a, b *intent) int { return cmp.Compare(a.order, b.order) })
	return list
}

// keep stores an event of an open call for snapshots.
func (s *intents) keep(e *journal.Event) {
	if x := s.byKey[e.Node]; x != nil && x.effect != nil {
		kept := *e
		kept.Hint = 0
		x.events = append(x.events, kept)
	}
}

// thawWork restores the result of freezeWork in a cell. It returns the intents, which are not open yet.
func (c *cell) thawWork(work map[string]any, effect func(string) *machine.Effect) (open []*intent, err error) {
	r := &thaw{}
	c.paused, c.completed = work["paused"] == true, work["completed"] == true
	if f := work["failure"]; f != nil {
		c.failure = r.Failure(f)
	}
	if it := work["aside"]; it != nil {
		c.aside = r.item(it)
	}
	for _, it := range r.List(work["mail"]) {
		c.mail.push(*r.item(it))
	}
	for _, v := range r.List(work[kept.Open]) {
		open = append(open, r.intent(c, v, effect))
	}
	return open, r.Err
}
