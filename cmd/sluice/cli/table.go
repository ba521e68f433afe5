package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
)

// Table collects rows, and prints them with aligned columns at its end.
type Table struct {
	out     io.Writer
	aligned bytes.Buffer
	w       *tabwriter.Writer
}

// NewTable returns a Table that writes to w.
func NewTable(w io.Writer) *Table {
	t := &Table{out: w}
	t.w = tabwriter.NewWriter(&t.aligned, 0, 0, 2, ' ', 0)
	return t
}

// Row adds a row, and may change the elements of cells. It replaces line breaks in a cell by spaces and removes control characters; leading
// spaces stay.
func (t *Table) Row(cells ...string) {
	for i, cell := range cells {
		inside := len(cell) - len(strings.TrimLeft(cell, " "))
		cells[i] = cell[:inside] + progress.Clean(cell)
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

// End writes the rows, without trailing spaces.
func (t *Table) End() {
	t.w.Flush()
	out := bufio.NewWriter(t.out)
	for line := range strings.Lines(t.aligned.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	out.Flush()
}
