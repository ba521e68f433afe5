package journal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Content streams hold one event that never changes.
const (
	definitionPrefix = "def/"
	blobPrefix       = "blob/"
)

// Streams that are neither runs nor content begin with apartMark, which no id of a run contains.
const (
	apartMark  = "#"
	namePrefix = apartMark + "wf/"
	heldName   = apartMark + "held"
	bulkName   = apartMark + "bulk"
)

// RetentionStream is the stream of the retention of finished runs: its last event applies.
const RetentionStream = apartMark + "keep"

// StreamNameMax bounds the name of a stream, in bytes.
const StreamNameMax = 512

// ErrInvalid is wrapped by errors about an invalid use of a store, such as an append that no store accepts.
var ErrInvalid = errors.New("journal: invalid append")

// ContentPrefixes returns the prefixes of the names of content streams: of large values, and of definitions.
func ContentPrefixes() (values, definitions string) { return blobPrefix, definitionPrefix }

// DefinitionStream returns the content stream of the workflow with a hash.
func DefinitionStream(hash string) string { return definitionPrefix + hash }

// DefinitionIn returns the hash of the workflow in a content stream, or "" for any other stream.
func DefinitionIn(stream string) string { return after(stream, definitionPrefix) }

// BlobIn returns the hash of the large value in a content stream, or "" for any other stream.
func BlobIn(stream string) string { return after(stream, blobPrefix) }

// after returns the text behind a prefix, or "" if the stream does not begin with it.
func after(stream, prefix string) string {
	rest, ok := strings.CutPrefix(stream, prefix)
	if !ok {
		return ""
	}
	return rest
}

// IsContent reports whether stream holds one event that never changes (`def/…`, `blob/…`) and has no head.
func IsContent(stream string) bool {
	return strings.HasPrefix(stream, definitionPrefix) || strings.HasPrefix(stream, blobPrefix)
}

// NameStream returns the stream of the definitions published under a workflow name, in order: the last event applies.
func NameStream(workflow string) string { return namePrefix + workflow }

// HeldStream returns the stream of marks of held runs, which no engine drives.
func HeldStream() string { return heldName }

// BulkIndex returns the stream of the acts on many runs: each act, and its end.
func BulkIndex() string { return bulkName }

// BulkStream returns the stream of an act on many runs: its chosen runs, and their outcomes.
func BulkStream(id uint64) string { return bulkName + "/" + strconv.FormatUint(id, 10) }

// BulkIn returns the number of the act in the name of a stream, as a text, or "" for any other stream.
func BulkIn(stream string) string { return after(stream, bulkName+"/") }

// isBulk reports whether a stream is about acts on many runs.
func isBulk(stream string) bool {
	return stream == bulkName || strings.HasPrefix(stream, bulkName+"/")
}

// IsRun reports whether stream is the stream of a run: it is not content and does not begin with `#`.
func IsRun(stream string) bool { return !IsContent(stream) && !strings.HasPrefix(stream, apartMark) }

// CheckAppend returns an error, which wraps ErrInvalid, for an append that no store accepts. Stores call it first. The name of a
// stream is 1 to StreamNameMax bytes of UTF-8 without NUL. A content stream takes exactly one ContentStored event, after sequence 0,
// and no head; the content of `blob/<hash>` must have that hash. Other streams take no ContentStored. The stream of a name takes only
// WorkflowPublished, RetentionStream only RetentionSet, and the streams of acts on many runs only BulkRecorded; other streams take
// none of these. Streams that begin with `#` have no head. A head must name its stream. An append without events is allowed: it
// replaces the head, if the stream's last sequence is after.
func CheckAppend(stream string, after uint64, events []Event, head *Head) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("%w to %q: %s", ErrInvalid, stream, fmt.Sprintf(format, args...))
	}
	if stream == "" || len(stream) > StreamNameMax || strings.IndexByte(stream, 0) >= 0 || !utf8.ValidString(stream) {
		return fault("a name is 1 to %d bytes of UTF-8, none of them zero", StreamNameMax)
	}
	if IsContent(stream) {
		if len(events) != 1 || events[0].Type != ContentStored || !head.IsZero() {
			return fault("its content is one event %s without a head", ContentStored)
		}
		if after != 0 {
			return fault("its content is its only event, and never the one after %d", after)
		}
		return checkBlob(stream, &events[0])
	}
	isName, isRetention, isBulk := strings.HasPrefix(stream, namePrefix), stream == RetentionStream, isBulk(stream)
	for i := range events {
		t := events[i].Type
		if !t.valid() || t == ContentStored || isName != (t == WorkflowPublished) || isRetention != (t == RetentionSet) || isBulk != (t == BulkRecorded) {
			return fault("event %d has type %s", after+uint64(i)+1, t)
		}
	}
	if !IsRun(stream) && !head.IsZero() {
		return fault("only runs have heads")
	}
	if !head.IsZero() && head.Run != stream {
		return fault("the head is of %q", head.Run)
	}
	if len(head.Waits) > WaitsMax {
		return fault("the head has %d waits, and %d are the most", len(head.Waits), WaitsMax)
	}
	return nil
}

// checkBlob compares the name of a blob's stream with its content, because readers would report a wrong name as damage.
func checkBlob(stream string, e *Event) error {
	if !strings.HasPrefix(stream, blobPrefix) {
		return nil
	}
	hash, _, err := HashOf(e.Value)
	if err != nil {
		return fmt.Errorf("%w to %s: %w", ErrInvalid, stream, err)
	}
	if hash.Stream() != stream {
		return fmt.Errorf("%w to %s: the content belongs in %s", ErrInvalid, stream, hash.Stream())
	}
	return nil
}

// ParentRun returns the id of the run whose call started a run, or "" if no call started it.
func ParentRun(run string) string { return run[:max(0, strings.LastIndexByte(run, '/'))] }
