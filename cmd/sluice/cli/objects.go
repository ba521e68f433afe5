package cli

import (
	"bufio"
	"encoding/json"
	"io"
)

// Objects prints JSON objects for programs: one per line, or all as one list. Its output is buffered.
type Objects struct {
	w    *bufio.Writer
	enc  *json.Encoder
	list bool
	n    int
	err  error // of the first object that could not be printed
}

// NewObjects returns an Objects that writes to w: one list, or one object per line. End must be called at the end.
func NewObjects(w io.Writer, list bool) *Objects {
	o := &Objects{w: bufio.NewWriter(w), list: list}
	o.enc = NewJSON(listWriter{o}, w)
	return o
}

// Print buffers the next object. Its error, if any, is returned by Flush and End.
func (o *Objects) Print(object any) {
	if o.list {
		o.w.WriteString([2]string{"[\n", ",\n"}[min(o.n, 1)])
	}
	o.n++
	if err := o.enc.Encode(object); err != nil && o.err == nil {
		o.err = err
	}
}

// Flush writes the buffered output, and returns the first error so far. It is called when the reader may be waiting.
func (o *Objects) Flush() error {
	if err := o.w.Flush(); err != nil && o.err == nil {
		o.err = err
	}
	return o.err
}

// End closes the list, writes the buffered output, and returns the first error.
func (o *Objects) End() error {
	if o.list {
		if o.n == 0 {
			o.w.WriteString("[")
		}
		o.w.WriteString("\n]\n")
	}
	return o.Flush()
}

// listWriter drops the line break after an object of a list: Print and End write it, after a comma if another object follows.
type listWriter struct{ o *Objects }

func (t listWriter) Write(line []byte) (int, error) {
	n := len(line)
	if t.o.list {
		line = line[:n-1]
	}
	_, err := t.o.w.Write(line)
	return n, err
}
