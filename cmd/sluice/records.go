package main

import (
	"bufio"
	"encoding/json"
	"io"
)

// recordPrinter prints objects for programs: one a line, or all of them as one list.
type recordPrinter struct {
	w    *bufio.Writer
	enc  *json.Encoder
	list bool
	n    int
	err  error // of the first object that could not be printed
}

func newRecordPrinter(w io.Writer, list bool) *recordPrinter {
	p := &recordPrinter{w: bufio.NewWriter(w), list: list}
	p.enc = newJSON(trimmed{p}, w)
	return p
}

// print takes the next object. It is sent on with those after it, see flush.
func (p *recordPrinter) print(object any) {
	if p.list {
		p.w.WriteString([2]string{"[\n", ",\n"}[min(p.n, 1)])
	}
	p.n++
	if err := p.enc.Encode(object); err != nil && p.err == nil {
		p.err = err
	}
}

// flush sends on what was printed: who reads it may be waiting for it.
func (p *recordPrinter) flush() error {
	if err := p.w.Flush(); err != nil && p.err == nil {
		p.err = err
	}
	return p.err
}

// end prints what ends a list.
func (p *recordPrinter) end() error {
	if p.list {
		if p.n == 0 {
			p.w.WriteString("[")
		}
		p.w.WriteString("\n]\n")
	}
	return p.flush()
}

// trimmed leaves the end of a line to who knows whether a comma is to come before it.
type trimmed struct{ p *recordPrinter }

func (t trimmed) Write(line []byte) (int, error) {
	n := len(line)
	if t.p.list {
		line = line[:n-1]
	}
	_, err := t.p.w.Write(line)
	return n, err
}
