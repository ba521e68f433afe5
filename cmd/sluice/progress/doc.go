// Package progress maintains a view of a run for people: the tree of its document with the status of each step, drawn as text that
// fits a terminal.
//
//	tree := progress.New(workflow)
//	for u := range run.Watch(ctx, 1) { tree.Apply(&u) }
//	text := tree.Draw(progress.Frame{Width: 80, Height: 24, Now: now})
//
//	● release       running       4.2s  5/9 steps
//	├─ ✓ find       completed    120ms
//	├─ parallel, 2 at a time
//	│  ├─ ✓ hash    completed     1.1s  attempt 2
//	│  └─ ● check   3/8 running   2.9s
//	│     └─ ✗ check[2]  failed  0.4s  exit: exit status 1
//	└─ · publish    idle
//
// A playbook is drawn as a list of its steps, because its arcs do not form a tree; a step is one line for all its runs:
//
//	├─ ● pages     4/12 running  3.2s  2 of 2 runs, 1 failed
//
// A world is drawn as a list of cells, each with its wait. If not all cells fit, those that have failed, are paused or wait come first.
//
// A map of any number of items is one line with counts; failed items are named. A tree that is higher than the frame is folded: failed
// and running steps stay, and summary lines describe the rest.
//
// # Contracts
//
// A Tree belongs to one goroutine. It has no clock and does no I/O: the same updates and the same frame return the same
// text. Instants are Unix nanoseconds.
//
// Apply takes all updates of one run, in order from the first one on. Of an update it keeps only the failures, which the caller must not
// change. It ignores an update about a step that the document does not have.
//
// Apply costs O(depth of the tree) for each change, and Draw O(lines drawn), plus one bit test for each step of the document. Memory is
// proportional to the document and the running steps: a Tree keeps the first 100 failures, and the first 16 failed items of a map; the
// others are counted.
//
// Text from outside is cleaned before it is drawn: no line holds a line break or a control sequence. Widths are columns of a terminal,
// where a character takes none, one or two.
package progress
