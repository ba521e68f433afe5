package cli

import (
	"bytes"
	"io"
)

// delayedMax bounds, in bytes, the output that a Delayed holds.
const delayedMax = 16 << 20

// Delayed is a writer that can hold its output back. A verb holds the output while it has a journal open, because otherwise a slow reader
// of the output, such as a pager, would block other processes. The zero Delayed is not usable.
type Delayed struct {
	to    io.Writer
	text  bytes.Buffer
	waits bool
}

// NewDelayed returns a Delayed that writes to w and does not hold output yet.
func NewDelayed(w io.Writer) *Delayed { return &Delayed{to: w} }

// Hold sets whether further writes are held back. Output that is already held remains held until Release.
func (d *Delayed) Hold(wait bool) { d.waits = wait }

// Write holds p back, or writes it. A write beyond 16 MiB first releases everything, and ends holding.
func (d *Delayed) Write(p []byte) (int, error) {
	if d.waits && d.text.Len()+len(p) <= delayedMax {
		return d.text.Write(p)
	}
	if err := d.Release(); err != nil {
		return 0, err
	}
	return d.to.Write(p)
}

// Release writes the held output, and ends holding.
func (d *Delayed) Release() error {
	d.waits = false
	if d.text.Len() == 0 {
		return nil
	}
	_, err := d.text.WriteTo(d.to)
	return err
}
