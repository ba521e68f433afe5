package journal

import (
	"fmt"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

// Fields of a head. The numbers are part of the stored format and are never reused.
const (
	headRun      = 1
	headWorkflow = 2
	headName     = 3
	headStatus   = 4
	headLast     = 5
	headStarted  = 6
	headUpdated  = 7
	headDue      = 8
	headOpen     = 9
	headLabels   = 10
	headSnapshot = 11
	headFirst    = 12
	headKind     = 13
	headWaits    = 14
	headDone     = 15
	headTotal    = 16
	headFailed   = 17
	headCode     = 18
	headEnded    = 19
	headMoved    = 20
)

// IsZero reports whether h is the zero Head. Append with the zero Head does not change the stream's head.
func (h *Head) IsZero() bool {
	return h.Run == "" && h.Workflow == "" && h.Name == "" && h.Status == "" && h.Last == 0 && h.Started == 0 &&
		h.Updated == 0 && h.Due == 0 && !h.Open && len(h.Labels) == 0 && h.Snapshot == 0 && h.First == 0 && h.Kind == "" && len(h.Waits) == 0 && h.Done == 0 && h.Total == 0 &&
		h.Failed == 0 && h.Code == "" && h.Ended == 0 && h.Moved == 0
}

// AppendHead appends the encoding of h to dst: canonical CBOR with a version, as for an event.
func AppendHead(dst []byte, h *Head) ([]byte, error) {
	w := encoder{b: dst}
	outer := w.begin()
	w.uint(fieldVersion, formatVersion)
	w.text(headRun, h.Run)
	w.text(headWorkflow, h.Workflow)
	w.text(headName, h.Name)
	w.text(headStatus, h.Status)
	w.uint(headLast, h.Last)
	w.int(headStarted, h.Started)
	w.int(headUpdated, h.Updated)
	w.int(headDue, h.Due)
	w.bool(headOpen, h.Open)
	err := w.labels(headLabels, h.Labels)
	w.uint(headSnapshot, h.Snapshot)
	w.uint(headFirst, h.First)
	w.text(headKind, h.Kind)
	w.waits(headWaits, h.Waits)
	w.int(headDone, int64(h.Done))
	w.int(headTotal, int64(h.Total))
	w.int(headFailed, int64(h.Failed))
	w.text(headCode, h.Code)
	w.int(headEnded, h.Ended)
	w.uint(headMoved, h.Moved)
	w.end(outer)
	if err != nil {
		return dst, fmt.Errorf("journal: encode head of %s: %w", h.Run, err)
	}
	return w.b, nil
}

// DecodeHead decodes the head in data. It shares no memory with data. The error wraps ErrVersion if a newer program wrote
// the head, and ErrDamaged if no program wrote it.
func DecodeHead(data []byte) (h Head, err error) {
	d := decoder{b: data}
	n := d.version("a head")
	for key := fieldVersion; n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case headRun:
			h.Run = d.text()
		case headWorkflow:
			h.Workflow = d.text()
		case headName:
			h.Name = d.text()
		case headStatus:
			h.Status = d.text()
		case headLast:
			h.Last = d.uint()
		case headStarted:
			h.Started = d.int()
		case headUpdated:
			h.Updated = d.int()
		case headDue:
			h.Due = d.int()
		case headOpen:
			h.Open = d.bool()
		case headLabels:
			h.Labels = d.labels()
		case headSnapshot:
			h.Snapshot = d.uint()
		case headFirst:
			h.First = d.uint()
		case headKind:
			h.Kind = d.text()
		case headWaits:
			h.Waits = d.waits()
		case headDone:
			h.Done = int(d.int())
		case headTotal:
			h.Total = int(d.int())
		case headFailed:
			h.Failed = int(d.int())
		case headCode:
			h.Code = d.text()
		case headEnded:
			h.Ended = d.int()
		case headMoved:
			h.Moved = d.uint()
		default:
			d.unknown(key)
		}
	}
	if len(d.b) > 0 {
		d.fail("%d bytes behind a head", len(d.b))
	}
	if d.err != nil {
		return Head{}, fmt.Errorf("decode head: %w", d.err)
	}
	return h, nil
}

// Fields of a wait. The numbers are part of the stored format and are never reused.
const (
	waitKind  = 0
	waitName  = 1
	waitStep  = 2
	waitUntil = 3
)

func (e *encoder) waits(key byte, list []Wait) {
	if len(list) == 0 {
		return
	}
	e.key(key)
	e.b = cborhead.Append(e.b, majorArray, uint64(len(list)))
	for i := range list {
		outer := e.begin()
		e.text(waitKind, list[i].Kind)
		e.text(waitName, list[i].Name)
		e.text(waitStep, list[i].Step)
		e.int(waitUntil, list[i].Until)
		e.end(outer)
	}
}

func (d *decoder) waits() []Wait {
	n := d.length(majorArray)
	if n == 0 {
		d.fail("an empty field")
		return nil
	}
	list := make([]Wait, 0, min(n, WaitsMax))
	for ; n > 0 && d.err == nil; n-- {
		list = append(list, d.wait())
	}
	return list
}

func (d *decoder) wait() (w Wait) {
	n := d.fields()
	for key := -1; n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case waitKind:
			w.Kind = d.text()
		case waitName:
			w.Name = d.text()
		case waitStep:
			w.Step = d.text()
		case waitUntil:
			w.Until = d.int()
		default:
			d.unknown(key)
		}
	}
	return w
}
