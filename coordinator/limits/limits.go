package limits

import (
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits bounds one run together with its child runs, and the memory of answers. Zero means the default, a negative number no
// limit.
type Limits struct {
	// NodesMax bounds the steps, conditionals and maps of a workflow. Start refuses a larger one. Default: 100,000.
	NodesMax int

	// MapItemsMax bounds the items of a map or of a playbook's loop. A longer list fails it with limit_exceeded. A run keeps
	// the limit it was started with. Default: 100,000.
	MapItemsMax int

	// InstancesMax bounds the steps, conditionals and maps of a run, each counted once for each item of the maps around it. A
	// list that would exceed it fails its map with limit_exceeded before any item is made. A run keeps the limit it was
	// started with. Default: 500,000.
	InstancesMax int

	// EventsMax bounds the events of a run's journal. A run that reaches it is closed with limit_exceeded. Default: 1,000,000.
	EventsMax int

	// BytesMax bounds the total size of the encoded values in a run's journal: its input, inputs and outputs of calls,
	// messages, patches. A call whose input or output would exceed it fails with limit_exceeded, and so does a run with its
	// output; anything else is refused. Default: 512 MiB.
	BytesMax int

	// ValueBytesMax bounds the encoding of a journaled value: an input, an output, a message, a patch. A call fails with
	// output_too_large or input_too_large, and is not retried; any other larger value is refused. The same bound holds for the
	// context of a playbook's run, and for the variables of one of its iterations or steps: a write beyond it fails the run
	// with limit_exceeded. A run keeps this limit. Default and maximum: 32 MiB.
	ValueBytesMax int

	// ValueNodesMax bounds the nodes of such a value: lists, objects, keys and scalars, each occurrence counted. A value with
	// more is treated like one with too many bytes. Default and maximum: value.NodesMax.
	ValueNodesMax int

	// AnswersBytesMax bounds the memory that the answers of all calls of the engine take from when they are read until they
	// are journaled: a quarter of it for texts, the rest for values, in which each node counts as value.NodeBytes. Answers of
	// commands and HTTP requests wait for room; small ones need none, and one that needs more than there is takes all of it,
	// alone. Default: 512 MiB.
	AnswersBytesMax int

	// MessagesMax bounds the messages of a run that no step has taken, and MailboxBytesMax their total size in bytes. Further
	// messages are refused with ErrMailboxFull. Defaults: 1,000, and 64 MiB.
	MessagesMax     int
	MailboxBytesMax int

	// DescendantsMax bounds the runs below a run without a parent, at all depths; DepthMax bounds that depth. A call that
	// would start one more fails with limit_exceeded. Defaults: 10,000, and 16, which is also the maximum.
	DescendantsMax int
	DepthMax       int
}

// Maximum values: a batch of the store has room for one value, and an id for the names of that many calls.
const (
	valueBytesMax = 32 << 20
	depthMax      = 16
)

// Default returns the limits of a zero Config.
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

// Completed returns the limits with defaults in place of zeros.
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

// OfRun returns the limits that apply to the decisions about a run.
func (l Limits) OfRun() decide.Limits {
	return decide.Limits{
		MapItemsMax: l.MapItemsMax, InstancesMax: l.InstancesMax, EventsMax: l.EventsMax, BytesMax: l.BytesMax, ValueBytesMax: l.ValueBytesMax,
		ValueNodesMax: l.ValueNodesMax,
		MessagesMax:   l.MessagesMax, MailboxBytesMax: l.MailboxBytesMax,
	}
}
