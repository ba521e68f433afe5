package decide

import (
	"cmp"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// eventWorkMax bounds the work of tasks and expressions that follows from one event of a playbook's run; the rest is left to
// an event of its own: see net.
const eventWorkMax = 1_000_000

// Limits bound the size of one run: see coordinator.Limits. Zero means the default, a negative number no limit.
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
	StepWorkMax     int // work of expressions after which a step leaves the rest to the next; 0: as much as one evaluation may be
	StepBytesMax    int // bytes of events after which it does; 0: as much as one value may have

	inMemory bool // bytes are those that events take in memory, and not only the encodings of values
}

// DefaultLimits returns the limits that replace zeros.
func DefaultLimits() Limits {
	return Limits{
		MapItemsMax: 100_000, InstancesMax: 500_000, EventsMax: 1_000_000, BytesMax: 512 << 20, ValueBytesMax: 32 << 20, ValueNodesMax: value.NodesMax,
		MessagesMax: 1_000, MailboxBytesMax: 64 << 20, StepWorkMax: workMax, StepBytesMax: bytesMax,
	}
}

// Within returns the limits of runs that may do only so much work together, and keep events of so many bytes, which bounds each
// step, too.
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

// KeptBy stores the limits that a run of a workflow keeps in its start.
func (l Limits) KeptBy(s *journal.Start, w *template.Workflow) {
	s.MapItemsMax, s.InstancesMax = int32(max(0, l.MapItemsMax)), int32(max(0, l.InstancesMax))
	if w.Routing != nil { // only a playbook has a context, and tasks that call nothing
		s.ContextBytesMax, s.EventWorkMax = int32(l.ValueBytesMax), int32(min(eventWorkMax, l.StepWorkMax))
	}
}
