package documents

import (
	"fmt"
	"io"
	"time"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// redrawn is the time between two drawings of the line.
const redrawn = 100 * time.Millisecond

// watched shows on a terminal how far an exploration has come, in a line that it redraws. Elsewhere it shows nothing.
type watched struct {
	w     io.Writer // nil: no terminal
	most  int       // states
	last  time.Time // of the newest drawing
	drawn bool
}

func newWatched(w io.Writer, most int) *watched {
	if !cli.IsTerminal(w) {
		w = nil
	}
	return &watched{w: w, most: most, last: time.Now()}
}

// show takes the number of states seen so far.
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
