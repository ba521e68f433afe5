package journal

import (
	"encoding/hex"
	"maps"
	"slices"
)

// Definitions returns the content streams of the definitions that an event refers to: that of the start of a run, or of its move, that
// of the name of a workflow, and that under which an act has many runs go on; with those of all child workflows.
func Definitions(e *Event) []string {
	if !refers(e.Type) || e.Detail == nil {
		return nil
	}
	return appendDefinitions(nil, e.Detail.Start)
}

// refers reports whether events of a type refer to definitions.
func refers(t Type) bool {
	return t == RunStarted || t == RunMoved || t == WorkflowPublished || t == BulkRecorded
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

// AppendReferences appends the content streams that the encoded events of a record refer to: definitions, and the large values
// that are kept apart. It decodes nothing else, so a value costs nothing. Its errors are those of Codec.Decode.
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
	t := Type(0)
	for key := fieldVersion; n > 0 && d.err == nil; n-- {
		switch key = d.key(key); {
		case key == eventType:
			t = d.eventType()
		case key == eventBlob:
			dst = append(dst, blobPrefix+hex.EncodeToString(d.bytes()))
		case key == eventDetail && refers(t):
			dst = appendDefinitions(dst, d.detail().Start)
		default:
			d.skip(skipDepth)
		}
	}
	return dst
}

// skipDepth is how deep an item is that skip takes: those of events are not.
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
