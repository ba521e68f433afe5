package journal

import (
	"encoding/hex"
	"maps"
	"slices"
)

// Definitions returns the content streams of the definitions that an event refers to: the workflow of its Detail.Start and all
// child workflows. It does not check the type, so that no sweep deletes definitions of events of a new type.
func Definitions(e *Event) []string {
	if e.Detail == nil {
		return nil
	}
	return appendDefinitions(nil, e.Detail.Start)
}

func appendDefinitions(dst []string, s *Start) []string {
	if s == nil {
		return dst
	}
	dst = append(dst, DefinitionStream(s.Workflow))
	for _, hash := range slices.Sorted(maps.Values(s.Children)) {
		dst = append(dst, DefinitionStream(hash))
	}
	return dst
}

// AppendReferences appends the content streams that the encoded events of a record refer to: definitions, and large values
// stored apart. It decodes nothing else, so a value costs nothing. It returns the same errors as Codec.Decode.
func AppendReferences(dst []string, record []byte) ([]string, error) {
	d := decoder{b: record}
	for len(d.b) > 0 {
		dst = d.references(dst)
	}
	return dst, d.err
}

// references takes an event.
func (d *decoder) references(dst []string) []string {
	n := d.version("an event")
	for key := fieldVersion; n > 0 && d.err == nil; n-- {
		switch key = d.key(key); {
		case key == eventType:
			d.eventType()
		case key == eventBlob:
			dst = append(dst, blobPrefix+hex.EncodeToString(d.bytes()))
		case key == eventDetail:
			dst = d.detailReferences(dst)
		default:
			d.skip(skipDepth)
		}
	}
	return dst
}

// detailReferences takes the detail of an event.
func (d *decoder) detailReferences(dst []string) []string {
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		if key = d.key(key); key == detailStart {
			dst = appendDefinitions(dst, d.start())
		} else {
			d.skip(skipDepth)
		}
	}
	return dst
}

// skipDepth bounds the depth of an item that skip takes. Items of events are less deep.
const skipDepth = 64

// skip takes any item.
func (d *decoder) skip(depth int) {
	major, n := d.item()
	items := uint64(0)
	switch {
	case depth == 0:
		d.fail("items within items")
		return
	case major == majorBytes || major == majorText:
		if n > uint64(len(d.b)) {
			d.fail("%d bytes in %d", n, len(d.b))
			return
		}
		d.b = d.b[n:]
	case major == majorArray:
		items = n
	case major == majorMap:
		items = 2 * n
	}
	for ; items > 0 && d.err == nil; items-- {
		d.skip(depth - 1)
	}
}
