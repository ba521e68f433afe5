package documents

import (
	"fmt"
	"io"
	"time"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// redrawn is the minimum time between two drawings of the line.
const redrawn = 100 * time.Millisecond

// watched shows the progress of an exploration in a line of a terminal, which it redraws. Without a terminal it shows nothing.
type watched struct {
	w     io.Writer // nil: no terminal
	most  int       // bound of the number of states
	last  time.Time // of the newest drawing
	drawn bool
}

func newWatched(w io.Writer, most int) *watched {
	if !cli.IsTerminal(w) {
		w = nil
	}
	return &watched{w: w, most: most, last: time.Now()}
}

// show draws the number of states explored so far, unless the last drawing is too recent.
func (p *watched) show(states int) {
	if p.w == nil || time.Since(p.last) < redrawn {
		return
	}
	p.last, p.drawn = time.Now(), true
	fmt.Fprintf(p.w, "\r%d states explored, of at most %d\x1b[K", states, p.most)
}

// end removes the line.
func (p *watched) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
