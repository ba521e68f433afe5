package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/template/value"
)

// formatVersion is the version of the encoding of events and heads. A change that an older program would misread increments it.
// The decoder reads all earlier versions.
//
//	1  the first
//	2  call.reported; making, work and cause of a detail; the step of a failure; the identity of a start
//	3  the limits of the context and of the work of an event, of a start; the timer "more"
//	4  the events of cells and snapshots; the id and the cells of a message; the seed and the folder of a start; published workflows; of a large value its preview
const formatVersion = 4

// ErrVersion is wrapped by errors about records of a newer version of Sluice: they may be valid, but this program cannot read
// them.
var ErrVersion = errors.New("journal: written by a newer version")

// fieldVersion is the first field of an event and of a head.
const fieldVersion = 0

// Fields of an event. The numbers are part of the stored format and are never reused.
const (
	eventType    = 1
	eventSeq     = 2
	eventAt      = 3
	eventNode    = 4
	eventAttempt = 5
	eventValue   = 6 // bytes: the encoding of the value
	eventBlob    = 7 // bytes: its SHA-256, if the value is stored elsewhere
	eventDetail  = 8
	eventLarge   = 9 // of a value that is stored elsewhere: its preview for people
)

// Codec encodes and decodes events as canonical CBOR, so that equal events have equal bytes. decode(encode(e)) is e, except for
// Hint, which is not stored, for Value, which becomes a value of package value, and for empty lists and maps, which become nil.
// The zero Codec keeps every value in its event. A Codec is immutable and safe for concurrent use if its functions are.
type Codec struct {
	// Spill, if not nil, receives values whose encoding exceeds SpillBytes: the event then holds only their hash. It owns
	// encoded. The content of a ContentStored event is never spilled.
	Spill      func(hash Hash, encoded []byte)
	SpillBytes int

	// Fetch returns the encoding of a value that was spilled; Decode checks it against the hash. Without Fetch, decoding
	// an event whose value was spilled fails.
	Fetch func(hash Hash) (encoded []byte, err error)

	// Leave makes Decode leave spilled values in place: the event's value is a value.Large, until Load.
	Leave bool
}

// Append appends the encoding of e to dst and returns the extended slice; on an error, it returns dst, whose bytes are
// unchanged. It fails if Value or Failure.Details are not values of package value, or Type is unknown.
func (c *Codec) Append(dst []byte, e *Event) ([]byte, error) {
	if !e.Type.valid() {
		return dst, fmt.Errorf("journal: encode event %d: %d is no type of event", e.Seq, e.Type)
	}
	w := encoder{b: dst}
	outer := w.begin()
	w.uint(fieldVersion, formatVersion)
	w.uint(eventType, uint64(e.Type))
	w.uint(eventSeq, e.Seq)
	w.int(eventAt, e.At)
	w.text(eventNode, e.Node)
	w.int(eventAttempt, int64(e.Attempt))
	spilled, err := c.appendValue(&w, e)
	if err == nil && e.Detail != nil {
		w.key(eventDetail)
		err = appendDetail(&w, e.Detail)
	}
	if err == nil && spilled != nil {
		appendLarge(&w, spilled)
	}
	w.end(outer)
	if err != nil {
		return dst, fmt.Errorf("journal: encode event %d (%s): %w", e.Seq, e.Type, err)
	}
	return w.b, nil
}

// appendValue writes the value of an event. If it spills the value, it returns the reference to it.
func (c *Codec) appendValue(w *encoder, e *Event) (*value.Large, error) {
	start := len(w.b)
	encoded, err := w.encode(e.Value)
	if err != nil || encoded == nil {
		return nil, err
	}
	if c.Spill != nil && len(encoded) > c.SpillBytes && e.Type != ContentStored {
		hash := Hash(sha256.Sum256(encoded))
		c.Spill(hash, bytes.Clone(encoded))
		w.b = w.b[:start]
		w.bytes(eventBlob, hash[:])
		l := value.LargeOf(e.Value, hash)
		return &l, nil
	}
	w.wrap(eventValue, start)
	return nil, nil
}

// Decode decodes the event at the start of data and returns the bytes after it. The event shares no memory with data. The
// error wraps ErrVersion if a newer program wrote the event, and ErrDamaged if no program wrote it; any other error is from
// Fetch.
func (c *Codec) Decode(data []byte) (e Event, rest []byte, err error) {
	rest, err = c.decode(&e, data, "")
	return e, rest, err
}

// DecodeAll appends all events in data to dst. On an error, it returns the events before the fault.
func (c *Codec) DecodeAll(dst []Event, data []byte) ([]Event, error) {
	node := ""
	for len(data) > 0 {
		dst = append(dst, Event{})
		e := &dst[len(dst)-1]
		rest, err := c.decode(e, data, node)
		if err != nil {
			return dst[:len(dst)-1], err
		}
		data, node = rest, e.Node
	}
	return dst, nil
}

// decode fills in e, which must be empty. If the event's node equals node, it shares that string: neighbors in a stream often
// concern the same node, which saves many copies.
func (c *Codec) decode(e *Event, data []byte, node string) (rest []byte, err error) {
	d := decoder{b: data}
	n := d.version("an event")
	var encoded, blob []byte
	var large *value.Large
	for key := fieldVersion; n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case eventType:
			e.Type = d.eventType()
		case eventSeq:
			e.Seq = d.uint()
		case eventAt:
			e.At = d.int()
		case eventNode:
			e.Node = d.textLike(node)
		case eventAttempt:
			e.Attempt = d.int32()
		case eventValue:
			encoded = d.bytes()
		case eventBlob:
			blob = d.bytes()
		case eventDetail:
			e.Detail = d.detail()
		case eventLarge:
			large = new(value.Large)
			*large = d.large()
		default:
			d.unknown(key)
		}
	}
	if e.Type == 0 {
		d.fail("an event has no type")
	}
	if large != nil && (blob == nil || *large == (value.Large{})) {
		d.fail("it describes a value that is not kept elsewhere")
	}
	switch {
	case d.err != nil:
	case c.Leave && blob != nil && encoded == nil:
		d.err = leave(e, blob, large)
	default:
		d.err = c.decodeValue(e, encoded, blob)
	}
	if d.err != nil {
		return nil, fmt.Errorf("decode event %d: %w", e.Seq, d.err)
	}
	return d.b, nil
}

// decodeValue sets e's value from the bytes in the event, or from the bytes that Fetch returns for the hash in the event.
func (c *Codec) decodeValue(e *Event, encoded, blob []byte) (err error) {
	if blob != nil {
		if encoded, err = c.fetch(blob, encoded); err != nil {
			return err
		}
	}
	if encoded == nil {
		return nil
	}
	if e.Value, err = value.Decode(encoded); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

func (c *Codec) fetch(blob, inline []byte) ([]byte, error) {
	var hash Hash
	switch {
	case inline != nil:
		return nil, fmt.Errorf("%w: a value both in the event and outside", ErrDamaged)
	case copy(hash[:], blob) != len(hash) || len(blob) != len(hash):
		return nil, fmt.Errorf("%w: a hash of %d bytes", ErrDamaged, len(blob))
	case c.Fetch == nil:
		return nil, fmt.Errorf("journal: the value is kept apart in %s", hash.Stream())
	}
	encoded, err := c.Fetch(hash)
	if err != nil {
		return nil, fmt.Errorf("fetch value: %w", err)
	}
	if sha256.Sum256(encoded) != hash {
		return nil, fmt.Errorf("%w: the content of %s has another hash", ErrDamaged, hash.Stream())
	}
	return encoded, nil
}

// version takes the start of an event or a head and its first field, the version of the format, and returns the number of the
// following fields.
func (d *decoder) version(of string) int {
	n := d.fields()
	if n == 0 || d.key(-1) != fieldVersion {
		d.fail("%s without a version", of)
		return 0
	}
	if v := d.uint(); d.err == nil && v > formatVersion {
		d.stop(fmt.Errorf("%w: format %d of %s, and this program reads %d", ErrVersion, v, of, formatVersion))
	}
	return n - 1
}

// unknown ends the decoding at a field that this version of the format does not have.
func (d *decoder) unknown(key int) { d.fail("field %d is not known", key) }

func (d *decoder) eventType() Type {
	n := d.uint()
	if t := Type(n); d.err != nil || uint64(t) == n && t.valid() {
		return t
	}
	d.stop(fmt.Errorf("%w: type %d of an event", ErrVersion, n))
	return 0
}

// textLike takes a text. If it equals like, textLike returns like and makes no copy.
func (d *decoder) textLike(like string) string {
	here := *d
	if s := d.raw(majorText); len(s) > 0 && string(s) == like {
		return like
	}
	*d = here
	return d.text()
}
