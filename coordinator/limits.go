package coordinator

import "github.com/sluiceflow/sluice/reactive/journal"

// Limits bound what one run, with the child runs below it, may grow to. Zero means the default, a negative number no limit.
type Limits struct {
	// NodesMax is how many steps, conditionals and maps a workflow may have. Starting a larger one is refused.
	// Default: 100,000.
	NodesMax int

	// MapItemsMax is how many items a map, or a playbook's loop, may have. A longer list fails it with limit_exceeded. A run keeps the limit
	// it was started with. Default: 100,000.
	MapItemsMax int

	// InstancesMax is how many steps, conditionals and maps a run may have, each counted once for each item of the maps
	// around it. A list that would lead beyond fails its map with limit_exceeded, before any of its items is made. A run
	// keeps the limit it was started with. Default: 500,000.
	InstancesMax int

	// EventsMax is how many events a run's journal may have. A run that reaches it is closed with limit_exceeded.
	// Default: 1,000,000.
	EventsMax int

	// ValueBytesMax is how many bytes the encoding of a value may take that is journaled: of an input, an output, a message, a
	// patch. A call with a larger output fails with output_too_large and one with a larger input with input_too_large, neither
	// to be repeated; anything else that is larger is refused. Default, and at most: 32 MiB.
	ValueBytesMax int

	// MessagesMax is how many messages of a run may wait for a step that takes them, and MailboxBytesMax how many bytes they
	// may have together. What is sent beyond is refused with ErrMailboxFull. Defaults: 1,000, and 64 MiB.
	MessagesMax     int
	MailboxBytesMax int

	// DescendantsMax is how many child runs a run may start that nobody has started, with those that they start; DepthMax is
	// how deep they may nest. A call that would start one more fails with limit_exceeded. Defaults: 10,000, and 16, which is
	// also the most.
	DescendantsMax int
	DepthMax       int
}

// What no limit may go beyond: a batch of the store has room for one value, and an id for the names of so many calls.
const (
	valueBytesMax = 32 << 20
	depthMax      = 16
)

// DefaultLimits are the limits of a Config that says nothing else.
func DefaultLimits() Limits {
	return Limits{
		NodesMax: 100_000, MapItemsMax: 100_000, InstancesMax: 500_000, EventsMax: 1_000_000, ValueBytesMax: valueBytesMax,
		MessagesMax: 1_000, MailboxBytesMax: 64 << 20, DescendantsMax: 10_000, DepthMax: depthMax,
	}
}

// Completed are the limits with the defaults in place of zeros.
func (l Limits) Completed() Limits {
	l.complete()
	return l
}

func (l *Limits) fields() []*int {
	return []*int{
		&l.NodesMax, &l.MapItemsMax, &l.InstancesMax, &l.EventsMax, &l.ValueBytesMax,
		&l.MessagesMax, &l.MailboxBytesMax, &l.DescendantsMax, &l.DepthMax,
	}
}

func (l *Limits) complete() {
	defaults := DefaultLimits()
	for i, most := range defaults.fields() {
		if limit := l.fields()[i]; *limit == 0 {
			*limit = *most
		}
	}
	for limit, most := range map[*int]int{&l.ValueBytesMax: valueBytesMax, &l.DepthMax: depthMax} {
		if *limit < 0 || *limit > most {
			*limit = most
		}
	}
}

// keptBy tells a run's start the limits that the run keeps.
func (l *Limits) keptBy(s *journal.Start) {
	s.MapItemsMax, s.InstancesMax = int32(max(0, l.MapItemsMax)), int32(max(0, l.InstancesMax))
}
