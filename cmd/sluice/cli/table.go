package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
)

// Table prints rows with aligned columns. It buffers rows that may be aligned with later ones.
type Table struct{ w *tabwriter.Writer }

// NewTable returns a Table that writes to w.
func NewTable(w io.Writer) *Table {
	return &Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
}

// Row adds a row, and may change cells. It replaces line breaks in a cell by spaces and removes control characters; leading spaces
// stay.
func (t *Table) Row(cells ...string) {
	for i, cell := range cells {
		inside := len(cell) - len(strings.TrimLeft(cell, " "))
		cells[i] = cell[:inside] + progress.Clean(cell)
	}
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// End writes the buffered rows.
func (t *Table) End() { t.w.Flush() }
