package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/sluiceflow/sluice/template/document"
)

// open is the depth of a type whose parts are being resolved.
const open = -1

// resolve checks a type that has been read, and its parts, and computes the derived properties. It visits each type once, so the time is
// linear in the document.
func (r *reader) resolve(t *Type) {
	if t.depth > 0 {
		return
	}
	t.depth = open
	depth := 0
	for part := range t.parts {
		if (*part).depth == open {
			r.recursive(*part)
			*part = &Type{}
		}
		r.resolve(*part)
		depth = max(depth, (*part).depth)
	}
	at := r.places[t]
	switch {
	case t.alias != nil:
		t.Kind, t.Fields, t.Elem, t.Key = t.alias.Kind, t.alias.Fields, t.alias.Elem, t.alias.Key
		depth-- // another name adds no level
	case depth >= DepthMax:
		r.faults.Add(tooDeep(at))
		*t, depth = Type{Name: t.Name}, 0
	case t.Kind == Map && t.Key.Kind != Invalid && !t.Key.Kind.isKey():
		r.faults.Add(&document.Error{Pos: at, Msg: fmt.Sprintf("map keys must be int, nat, text, uuid or hash, not %s", t.Key.Kind)})
	}
	t.depth = depth + 1
	t.finish()
}

// parts yields the types that t consists of, to be replaced where they cannot be.
func (t *Type) parts(yield func(**Type) bool) {
	for _, part := range []**Type{&t.alias, &t.Key, &t.Elem} {
		if *part != nil && !yield(part) {
			return
		}
	}
	for i := range t.Fields {
		if !yield(&t.Fields[i].Type) {
			return
		}
	}
}

// recursive refuses a declared type that is a part of itself, once.
func (r *reader) recursive(t *Type) {
	at, isFirst := r.places[t]
	if !isFirst {
		return
	}
	delete(r.places, t)
	r.faults.Add(&document.Error{Pos: at, Text: t.Name,
		Msg: fmt.Sprintf("recursive type %s: a value would have no end, so let it hold a key of the other", document.Quote(t.Name))})
}

func tooDeep(at document.Pos) *document.Error {
	return &document.Error{Pos: at, Err: document.ErrLimit, Msg: fmt.Sprintf("types nested deeper than %d levels", DepthMax)}
}

// finish computes the lookup table and the hash of a type whose parts are resolved.
func (t *Type) finish() {
	if t.Kind == Variant {
		t.arms = make(map[string]*Type, len(t.Fields))
		for _, arm := range t.Fields {
			t.arms[arm.Name] = arm.Type
		}
	}
	h := sha256.New()
	h.Write([]byte{byte(t.Kind)})
	for _, part := range []*Type{t.Key, t.Elem} {
		if part != nil {
			h.Write(part.sum[:])
		}
	}
	for _, f := range t.Fields {
		writeText(h, f.Name)
		h.Write(f.Type.sum[:])
	}
	h.Sum(t.sum[:0])
}

func writeText(h hash.Hash, text string) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(text)))
	h.Write(size[:])
	h.Write([]byte(text))
}
