// Package archive writes runs as lines of JSON, and reads them back: for export and import.
//
//	w := archive.NewWriter(file, 1)
//	err := w.Run(ctx, store, "order-1")
//	err = w.Close()
//
//	r := archive.NewReader(file)
//	for item, err := range r.Items() { … }
//
// # Format
//
// Each line is one object. Its first key names its kind:
//
//	{"sluice":"runs","version":1,"runs":2}                                the first line: how many runs follow
//	{"run":"order-1"}                                                     a run begins
//	{"definition":"3f2a…","document":{"kind":"Workflow",…}}               a workflow that the run needs
//	{"blob":"9c01…","data":"o2Vp…"}                                       a large value, before the first event that has it
//	{"event":{"seq":1,"at":"2026-01-02T15:04:05Z","type":"run.started",…}}
//	{"event":{"seq":2,…,"blob":"9c01…"}}                                  an event whose value is large
//	{"content":"77ab…","data":"glhA…"}                                    content to which a snapshot of a world refers
//	{"end":"order-1","events":57,"sha256":"5e2f…"}                        the run ends; the hash is that of its lines
//
// Hashes are SHA-256 in hexadecimal digits: of the encoding (package value) of a definition or a large value, of the bytes of
// content, and of the lines of a run from its first line up to the line before `end`, line feeds included. Data is base64
// (standard, padded). A definition or a large value is written once, also if several runs have it. Sequences are consecutive,
// except for a gap of the journal itself behind event 1 (see journal.ErrTrimmed).
//
// The Reader refuses a file that was cut short or changed: a run that it has yielded with its end is unchanged. Equal journals
// are written as equal bytes.
//
// # Contracts
//
// Both need memory for one line at a time, and for the hash of each definition and large value. A Writer and a Reader belong to one
// goroutine at a time.
package archive
