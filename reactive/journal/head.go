package journal

import "fmt"

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
)

// IsZero reports whether h is the zero Head, with which Append does not change the stream's head.
func (h *Head) IsZero() bool {
	return h.Run == "" && h.Workflow == "" && h.Name == "" && h.Status == "" && h.Last == 0 && h.Started == 0 &&
		h.Updated == 0 && h.Due == 0 && !h.Open && len(h.Labels) == 0 && h.Snapshot == 0 && h.First == 0
}

// AppendHead appends the encoding of h to dst: canonical CBOR with a version, like that of an event.
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
	w.end(outer)
	if err != nil {
		return dst, fmt.Errorf("journal: encode head of %s: %w", h.Run, err)
	}
	return w.b, nil
}

// DecodeHead decodes the head in data. It shares no memory with data. The error wraps ErrVersion if a newer program wrote
// the head, and ErrDamaged if no program did.
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
