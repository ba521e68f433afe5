package decide

import (
	"cmp"
	"math"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// eventWorkMax bounds the work of tasks and expressions that follows from one event of a playbook's run. Another event does the
// rest: see package net.
const eventWorkMax = 1_000_000

// Limits bound the size of one run: see coordinator.Limits. Zero means the default; a negative number means no limit.
type Limits struct {
	// As in coordinator.Limits, with the same units.
	MapItemsMax     int
	InstancesMax    int
	EventsMax       int
	BytesMax        int
	ValueBytesMax   int
	ValueNodesMax   int
	MessagesMax     int
	MailboxBytesMax int
	StepWorkMax     int // work of expressions after which a step leaves the rest to the next; 0: the bound of one evaluation
	StepBytesMax    int // bytes of events after which a step leaves the rest to the next; 0: the bound of one value

	inMemory bool // count the bytes of events in memory, and not only of encoded values
}

// DefaultLimits returns the default limits.
func DefaultLimits() Limits {
	return Limits{
		MapItemsMax: 100_000, InstancesMax: 500_000, EventsMax: 1_000_000, BytesMax: 512 << 20, ValueBytesMax: 32 << 20, ValueNodesMax: value.NodesMax,
		MessagesMax: 1_000, MailboxBytesMax: 64 << 20, StepWorkMax: workMax, StepBytesMax: bytesMax,
	}
}

// Within returns limits for runs that together are bounded in work and in bytes of events. The bounds apply to each step, too.
func (l Limits) Within(work, bytes int) Limits {
	l.StepWorkMax, l.StepBytesMax, l.inMemory = min(work, l.complete().StepWorkMax), min(bytes, l.complete().StepBytesMax), true
	return l
}

func (l Limits) complete() Limits {
	d := DefaultLimits()
	return Limits{
		MapItemsMax: cmp.Or(l.MapItemsMax, d.MapItemsMax), InstancesMax: cmp.Or(l.InstancesMax, d.InstancesMax),
		EventsMax: cmp.Or(l.EventsMax, d.EventsMax), BytesMax: cmp.Or(l.BytesMax, d.BytesMax),
		ValueBytesMax: cmp.Or(l.ValueBytesMax, d.ValueBytesMax),
		ValueNodesMax: cmp.Or(l.ValueNodesMax, d.ValueNodesMax),
		MessagesMax:   cmp.Or(l.MessagesMax, d.MessagesMax), MailboxBytesMax: cmp.Or(l.MailboxBytesMax, d.MailboxBytesMax), StepWorkMax: cmp.Or(l.StepWorkMax, d.StepWorkMax),
		StepBytesMax: cmp.Or(l.StepBytesMax, d.StepBytesMax), inMemory: l.inMemory,
	}
}

// KeptBy stores limits in the start of a run, which keeps them.
func (l Limits) KeptBy(s *journal.Start, w *template.Workflow) {
	s.MapItemsMax, s.InstancesMax = kept(max(0, l.MapItemsMax)), kept(max(0, l.InstancesMax))
	if w.Routing != nil { // only a playbook has a context and tasks without calls
		s.ContextBytesMax, s.EventWorkMax = kept(l.ValueBytesMax), int32(min(eventWorkMax, l.StepWorkMax))
	}
}

// kept returns a limit as a start has it. Nothing in a run is numbered beyond int32, so a higher limit is the same as the
// highest.
func kept(limit int) int32 { return int32(min(limit, math.MaxInt32)) }
