package documents

import (
	"fmt"
	"io"
	"time"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// redrawInterval is the minimum time between two drawings of the line.
const redrawInterval = 100 * time.Millisecond

// progressLine shows the progress of an exploration in a line of a terminal, which it redraws. Without a terminal it shows nothing.
type progressLine struct {
	w     io.Writer // nil: no terminal
	most  int       // bound of the number of states
	last  time.Time // of the newest drawing
	drawn bool
}

func newWatched(w io.Writer, most int) *progressLine {
	if !cli.IsTerminal(w) {
		w = nil
	}
	return &progressLine{w: w, most: most, last: time.Now()}
}

// show draws the number of states explored so far, unless the last drawing is too recent.
func (p *progressLine) show(states int) {
	if p.w == nil || time.Since(p.last) < redrawInterval {
		return
	}
	p.last, p.drawn = time.Now(), true
	fmt.Fprintf(p.w, "\r%d states explored, of at most %d\x1b[K", states, p.most)
}

// end removes the line.
func (p *progressLine) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
