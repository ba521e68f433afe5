package limits

import (
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits bound what one run, with the child runs below it, may grow to, and what answers take meanwhile. Zero means the default, a negative number no limit.
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

	// BytesMax is how many bytes the encodings of all values in the journal of a run may take together: its input, what its calls
	// are given and give, messages, patches. A call whose input or output would be beyond it fails with limit_exceeded, and so
	// does a run with its output; anything else is refused. Default: 512 MiB.
	BytesMax int

	// ValueBytesMax is how many bytes the encoding of a value may take that is journaled: of an input, an output, a message, a
	// patch. A call with a larger output fails with output_too_large and one with a larger input with input_too_large, neither
	// to be repeated; anything else that is larger is refused. The context of a playbook's run may take as much, and so may the
	// variables of one of its iterations or steps: a write beyond it fails the run with limit_exceeded. A run keeps
	// that limit.
	// Default, and at most: 32 MiB.
	ValueBytesMax int

	// ValueNodesMax is how many nodes such a value may have: lists, objects, keys and scalars, each where it stands. What
	// has more fares like what has more bytes. Default, and at most: value.NodesMax.
	ValueNodesMax int

	// AnswersBytesMax is how many bytes the answers of all calls of the engine may take in memory together, from when they are
	// read until they are journaled: a quarter of it as texts, the rest as the values that are made of them, of which each node
	// counts as value.NodeBytes. Answers of commands and HTTP requests wait for room; small ones need none, and one that
	// needs more than there is has all of it, alone. Default: 512 MiB.
	AnswersBytesMax int

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

// Default returns the limits of an engine whose Config says nothing else.
func Default() Limits {
	run := decide.DefaultLimits()
	return Limits{
		NodesMax: 100_000, MapItemsMax: run.MapItemsMax, InstancesMax: run.InstancesMax, EventsMax: run.EventsMax,
		BytesMax:      run.BytesMax,
		ValueBytesMax: run.ValueBytesMax, ValueNodesMax: run.ValueNodesMax, AnswersBytesMax: 512 << 20,
		MessagesMax: run.MessagesMax, MailboxBytesMax: run.MailboxBytesMax,
		DescendantsMax: 10_000, DepthMax: depthMax,
	}
}

// Completed are the limits with the defaults in place of zeros.
func (l Limits) Completed() Limits {
	l.complete()
	return l
}

func (l *Limits) fields() []*int {
	return []*int{
		&l.NodesMax, &l.MapItemsMax, &l.InstancesMax, &l.EventsMax, &l.BytesMax, &l.ValueBytesMax, &l.ValueNodesMax,
		&l.AnswersBytesMax, &l.MessagesMax, &l.MailboxBytesMax, &l.DescendantsMax, &l.DepthMax,
	}
}

func (l *Limits) complete() {
	defaults := Default()
	for i, most := range defaults.fields() {
		if limit := l.fields()[i]; *limit == 0 {
			*limit = *most
		}
	}
	for limit, most := range map[*int]int{&l.ValueBytesMax: valueBytesMax, &l.ValueNodesMax: value.NodesMax, &l.DepthMax: depthMax} {
		if *limit < 0 || *limit > most {
			*limit = most
		}
	}
}

// OfRun returns the limits that the decisions about a run keep to.
func (l Limits) OfRun() decide.Limits {
	return decide.Limits{
		MapItemsMax: l.MapItemsMax, InstancesMax: l.InstancesMax, EventsMax: l.EventsMax, BytesMax: l.BytesMax, ValueBytesMax: l.ValueBytesMax,
		ValueNodesMax: l.ValueNodesMax,
		MessagesMax:   l.MessagesMax, MailboxBytesMax: l.MailboxBytesMax,
	}
}
