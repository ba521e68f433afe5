package signals

import (
	"errors"
	"fmt"
	"math"
)

// Gates is the number of counting gates of every node of a [Bank].
const Gates = 4

// Outputs is the number of different outputs a node of a [Bank] can show: 0 to Outputs-1.
const Outputs = 16

// Wiring is the immutable half of a gate bank: its nodes and edges. [NewWiring] checks and makes it; any number of banks on any
// number of goroutines may share it. Its slices must not be changed.
//
//	row        0   1   2            rows are [0, n)
//	First      0   2   3   3        edges of row v are [First[v], First[v+1]): compressed sparse rows
//	To         1   2   2            target row of each edge
//	Class      0   1   0            class of each edge, an index into Table
//	Rank       0   1   2            every edge goes from a lower rank to a higher one
//
// Table defines the effect of an edge: Table[class][output] is the set of gates (bit g is gate g) at which the target counts an
// edge of that class while the source shows that output.
//
// Invariants: (1) First starts at 0, never falls, and ends at len(To) = len(Class); (2) targets are rows and ranks ascend along edges;
// (3) classes are indices of Table, whose sets contain only gates below Gates.
type Wiring struct {
	// As drawn above.
	First []int32
	To    []int32
	Class []uint8
	Rank  []int32
	Table [][Outputs]uint8

	initial [][Gates]int32 // per row: its counts while every row shows output 0
}

// NewWiring checks the slices and keeps them; the caller must not use them afterwards. There are len(rank) rows. It takes time linear in the edges.
func NewWiring(first, to []int32, class []uint8, rank []int32, table [][Outputs]uint8) (*Wiring, error) {
	w := &Wiring{First: first, To: to, Class: class, Rank: rank, Table: table}
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("signals: wiring: %w", err)
	}
	w.initial = w.counts(0, int32(len(rank)))
	return w, nil
}

// Rows returns the number of rows.
func (w *Wiring) Rows() int { return len(w.Rank) }

// counts returns the counts of rows [lo, hi) if all of these rows show output 0, without edges from other rows.
func (w *Wiring) counts(lo, hi int32) [][Gates]int32 {
	counts := make([][Gates]int32, hi-lo)
	for e := w.First[lo]; e < w.First[hi]; e++ {
		to := w.To[e]
		if to < lo || to >= hi {
			continue
		}
		counted := w.Table[w.Class[e]][0]
		for g := range Gates {
			counts[to-lo][g] += int32(counted >> g & 1)
		}
	}
	return counts
}

// check tests the invariants and returns the first violation. Each test may rely on those before it.
func (w *Wiring) check() error {
	rows := len(w.Rank)
	switch {
	case rows > math.MaxInt32 || len(w.To) > math.MaxInt32:
		return errors.New("more rows or edges than an int32 can count")
	case len(w.First) != rows+1:
		return fmt.Errorf("%d entries in First, want one more than the %d ranks", len(w.First), rows)
	case len(w.Class) != len(w.To):
		return fmt.Errorf("%d classes for %d edges", len(w.Class), len(w.To))
	case w.First[0] != 0 || int(w.First[rows]) != len(w.To):
		return fmt.Errorf("edges of all rows span [%d, %d), want [0, %d)", w.First[0], w.First[rows], len(w.To))
	}
	for class := range w.Table {
		for output, gates := range w.Table[class] {
			if gates >= 1<<Gates {
				return fmt.Errorf("class %d counts output %d at gates %#b: there are only %d", class, output, gates, Gates)
			}
		}
	}
	for row := range rows {
		if w.First[row] > w.First[row+1] {
			return fmt.Errorf("entries of First fall at row %d", row)
		}
	}
	for row := range rows {
		if err := w.checkRow(row); err != nil {
			return err
		}
	}
	return nil
}

// checkRow tests the rank of a row and its edges.
func (w *Wiring) checkRow(row int) error {
	if w.Rank[row] < 0 {
		return fmt.Errorf("row %d has the negative rank %d", row, w.Rank[row])
	}
	for e := w.First[row]; e < w.First[row+1]; e++ {
		to := w.To[e]
		switch {
		case to < 0 || int(to) >= len(w.Rank):
			return fmt.Errorf("row %d has an edge to %d: there are %d rows", row, to, len(w.Rank))
		case w.Rank[to] <= w.Rank[row]:
			return fmt.Errorf("edge from row %d to %d does not ascend: rank %d to %d", row, to, w.Rank[row], w.Rank[to])
		case int(w.Class[e]) >= len(w.Table):
			return fmt.Errorf("edge from row %d to %d has class %d: there are %d", row, to, w.Class[e], len(w.Table))
		}
	}
	return nil
}
