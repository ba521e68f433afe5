package main

import (
	"bytes"
	"io"
)

// heldBackMax is how much output waits, in bytes. What goes beyond is printed as it comes.
const heldBackMax = 16 << 20

// heldBack is output that waits while a journal is open here: who reads it, a pager perhaps, takes his time, and nobody could
// work on the journal meanwhile.
type heldBack struct {
	to    io.Writer
	text  bytes.Buffer
	waits bool
}

func (h *heldBack) Write(p []byte) (int, error) {
	if h.waits && h.text.Len()+len(p) <= heldBackMax {
		return h.text.Write(p)
	}
	if err := h.release(); err != nil {
		return 0, err
	}
	return h.to.Write(p)
}

// release prints what has waited.
func (h *heldBack) release() error {
	h.waits = false
	if h.text.Len() == 0 {
		return nil
	}
	_, err := h.text.WriteTo(h.to)
	return err
}
