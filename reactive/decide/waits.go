package decide

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// waitsKnownMax bounds the messages or decisions that a run waits for. Beyond it, the head names none, because it would cost more
// than the event that changes it.
const waitsKnownMax = 256

// describe sets the fields of a head that lists show besides the status.
func describe(h *journal.Head, root *reactive.Root) {
	h.Kind = root.Plan().DocumentKind()
	if root.Body() == nil {
		p := root.Progress()
		h.Done, h.Total, h.Failed = p.Done, p.Total, p.Failed
	}
	switch end := root.Finished(); {
	case end != nil:
		h.Ended = end.At
		if end.Detail.Failure != nil {
			h.Code = end.Detail.Failure.Code
		}
	case root.Paused():
		h.Waits = decisions(root, pauses(root))
		h.Waits = h.Waits[:min(len(h.Waits), journal.WaitsMax)]
	case h.Status == string(reactive.RunWaiting):
		h.Waits = waits(root, h)
	}
}

// pauses returns the pause of the whole run. If the outcome of a step has paused it, the run waits for the decision about that
// step instead.
func pauses(root *reactive.Root) []journal.Wait {
	if root.Stopped() || root.PausedFromAbove() {
		return []journal.Wait{{Kind: journal.WaitPaused}}
	}
	return nil
}

// waits returns the waits of a run that only timers, messages and people can end: for decisions, then for messages, then for
// the next timer, unless that timer ends one of these.
func waits(root *reactive.Root, h *journal.Head) []journal.Wait {
	list := messages(root, decisions(root, nil))
	timer := h.Due != 0
	for i := range list {
		timer = timer && list[i].Until != h.Due
	}
	if len(list) > journal.WaitsMax {
		list = list[:journal.WaitsMax]
	}
	if timer && len(list) < journal.WaitsMax {
		next, _ := root.Fire(h.Due)
		list = append(list, journal.Wait{Kind: journal.WaitTimer, Step: next.Node, Until: h.Due})
	}
	if len(list) > 0 || root.Body() == nil {
		return list
	}
	if steps := root.Steps(); steps != nil {
		return gates(steps)
	}
	return []journal.Wait{{Kind: journal.WaitMessage}}
}

// gates returns the steps of a playbook with tokens that wait at their gates.
func gates(steps reactive.Steps) (list []journal.Wait) {
	if names := steps.Names(); len(names) <= waitsKnownMax {
		for _, name := range names {
			if s, _ := steps.StepNow(name); s.Pending > 0 && len(list) < journal.WaitsMax {
				list = append(list, journal.Wait{Kind: journal.WaitGate, Step: name})
			}
		}
	}
	if len(list) == 0 {
		return []journal.Wait{{Kind: journal.WaitGate}}
	}
	return list
}

func decisions(root *reactive.Root, list []journal.Wait) []journal.Wait {
	switch n := root.UndecidedCount(); {
	case n > waitsKnownMax:
		return append(list, journal.Wait{Kind: journal.WaitPerson})
	case n == 0:
		return list
	}
	for _, d := range root.Deciders() {
		list = append(list, journal.Wait{Kind: journal.WaitPerson, Name: d.By, Step: root.Key(d.Node), Until: d.Due})
	}
	return list
}

func messages(root *reactive.Root, list []journal.Wait) []journal.Wait {
	switch n := root.Names(); {
	case n > waitsKnownMax:
		return append(list, journal.Wait{Kind: journal.WaitMessage})
	case n == 0:
		return list
	}
	awaited := root.Awaiting()
	awaited = awaited[:min(len(awaited), journal.WaitsMax)]
	nodes := make([]int32, len(awaited))
	for i := range awaited {
		nodes[i] = awaited[i].Request.Node
	}
	for i, until := range root.Ends(nodes) {
		list = append(list, journal.Wait{Kind: journal.WaitMessage, Name: awaited[i].Message, Step: root.Key(nodes[i]), Until: until})
	}
	return list
}
