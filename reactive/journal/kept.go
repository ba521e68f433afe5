package journal

import "slices"

// Fields of a Kept and of a From. The numbers are part of the stored format and are never reused.
const (
	keptRun         = 0
	keptSeq         = 1
	keptStatus      = 2
	keptFulfillment = 3
	keptInput       = 4
	keptIf          = 5

	fromRun  = 0
	fromSeq  = 1
	fromKept = 2
)

func appendKept(w *encoder, k *Kept) {
	outer := w.begin()
	w.text(keptRun, k.Run)
	w.int(keptSeq, int64(k.Seq))
	w.text(keptStatus, k.Status)
	w.text(keptFulfillment, k.Fulfillment)
	w.bytes(keptInput, k.Input)
	w.bool(keptIf, k.If)
	w.end(outer)
}

func (d *decoder) kept() *Kept {
	k := new(Kept)
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case keptRun:
			k.Run = d.text()
		case keptSeq:
			k.Seq = uint64(d.int())
		case keptStatus:
			k.Status = d.text()
		case keptFulfillment:
			k.Fulfillment = d.text()
		case keptInput:
			k.Input = slices.Clone(d.bytes())
		case keptIf:
			k.If = d.bool()
		default:
			d.unknown(key)
		}
	}
	return k
}

func appendFrom(w *encoder, f *From) {
	outer := w.begin()
	w.text(fromRun, f.Run)
	w.int(fromSeq, int64(f.Seq))
	w.int(fromKept, int64(f.Kept))
	w.end(outer)
}

func (d *decoder) from() *From {
	f := new(From)
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case fromRun:
			f.Run = d.text()
		case fromSeq:
			f.Seq = uint64(d.int())
		case fromKept:
			f.Kept = d.int32()
		default:
			d.unknown(key)
		}
	}
	return f
}
