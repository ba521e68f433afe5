package progress

import "github.com/sluiceflow/sluice/reactive"

// Word is the displayed status of a step: Retrying is a failure that is followed by another attempt.
type Word uint8

// The words, in the order of a step's life.
const (
	Idle Word = iota
	Waiting
	Ready
	Running
	Retrying // failed, with a retry to come
	Completed
	Failed
	Aborted
	Skipped

	words // number of words
)

var wordNames = [...]string{"idle", "waiting", "ready", "running", "retrying", "completed", "failed", "aborted", "skipped"}

// String returns the word in lower case.
func (w Word) String() string { return wordNames[w] }

// symbols holds the symbols of the words; each takes one column.
var symbols = [...]string{"·", "·", "○", "●", "↻", "✓", "✗", "⊘", "−"}

// Symbol returns the symbol of the word, one character that takes one column.
func (w Word) Symbol() string { return symbols[w] }

// Settled reports whether a step has ended finally.
func (w Word) Settled() bool { return w >= Completed }

var wordsByStatus = [...]Word{
	reactive.Idle: Idle, reactive.Waiting: Waiting, reactive.Ready: Ready, reactive.Running: Running,
	reactive.Completed: Completed, reactive.Failed: Failed, reactive.Aborted: Aborted, reactive.Skipped: Skipped,
}

// WordOf returns the word for a status; pending reports that a failed step is attempted again. It reports false for Absent.
func WordOf(s reactive.Status, pending bool) (Word, bool) {
	if s == reactive.Failed && pending {
		return Retrying, true
	}
	return wordsByStatus[s], s != reactive.Absent
}

// WordOfRun returns the word that selects the style of a run of that status.
func WordOfRun(s reactive.RunStatus) Word {
	switch s {
	case reactive.RunRunning:
		return Running
	case reactive.RunWaiting, reactive.RunPaused:
		return Waiting
	case reactive.RunCompleted:
		return Completed
	case reactive.RunAborted:
		return Aborted
	}
	return Failed
}

// counts holds the number of steps in each state.
type counts [words]int32

func (c *counts) add(o *counts) {
	for w := range c {
		c[w] += o[w]
	}
}

func (c *counts) subtract(o *counts) {
	for w := range c {
		c[w] -= o[w]
	}
}

func (c *counts) total() int32 { return c.sum(Idle, words) }

func (c *counts) settled() int32 { return c.sum(Completed, words) }

// sum returns the sum of the words [from, to).
func (c *counts) sum(from, to Word) int32 {
	n := int32(0)
	for w := from; w < to; w++ {
		n += c[w]
	}
	return n
}

// word returns one word for many steps: the word of running ones, else of waiting ones, else of their ends.
func (c *counts) word() Word {
	switch {
	case c[Running] > 0:
		return Running
	case c[Retrying] > 0:
		return Retrying
	case c[Ready] > 0:
		return Ready
	case c[Waiting] > 0 || c[Idle] > 0 && c.settled() > 0:
		return Waiting
	case c[Idle] > 0:
		return Idle
	case c[Failed] > 0:
		return Failed
	case c[Aborted] > 0:
		return Aborted
	case c[Completed] > 0:
		return Completed
	case c[Skipped] > 0:
		return Skipped
	}
	return Idle
}
