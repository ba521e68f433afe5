package records

import (
	"encoding/binary"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// The head of a trimmed stream has trimmedVersion: a program that does not know it must not report the missing events as
// damage. The record in the place of the head of a deleted stream has deletedVersion.
const (
	trimmedVersion = 2
	deletedVersion = 3
)

// Head is the content of the record under a stream's head key: the last sequence of the stream, with or without a head; the first
// sequence behind the trimmed events; and the encoding of the head, without these two.
type Head struct {
	Last    uint64                // sequence of the last event
	First   uint64                // 0: nothing was trimmed
	Encoded []byte                // empty: none
	Deleted *journal.DeletedError // the stream was deleted; nil: it was not
}

// Append appends the sealed record for a key.
func (h Head) Append(dst, key []byte) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(BeginSealed(dst), h.Last)
	switch {
	case h.Deleted != nil:
		dst[begin+SealHeader-1] = deletedVersion
		dst = binary.BigEndian.AppendUint64(dst, uint64(h.Deleted.At))
		dst = binary.BigEndian.AppendUint64(dst, uint64(h.Deleted.Until))
	case h.First > 0:
		dst[begin+SealHeader-1] = trimmedVersion
		dst = binary.BigEndian.AppendUint64(dst, h.First)
	}
	dst = append(dst, h.Encoded...)
	Seal(dst[begin:], key)
	return dst
}

// OpenHead reads a record found under key. The encoded head is part of the record.
func OpenHead(record, key []byte) (Head, error) {
	version, content, err := UnsealUpTo(deletedVersion, record, key)
	numbers := 8
	switch version {
	case trimmedVersion:
		numbers = 16
	case deletedVersion:
		numbers = 24
	}
	if err == nil && len(content) < numbers {
		err = fmt.Errorf("%w: it is too short", journal.ErrDamaged)
	}
	if err != nil {
		return Head{}, fmt.Errorf("head of %s: %w", key[1:], err)
	}
	h := Head{Last: binary.BigEndian.Uint64(content), Encoded: content[numbers:]}
	switch version {
	case trimmedVersion:
		h.First = binary.BigEndian.Uint64(content[8:])
	case deletedVersion:
		h.Deleted = &journal.DeletedError{Tombstone: journal.Tombstone{
			At: int64(binary.BigEndian.Uint64(content[8:])), Until: int64(binary.BigEndian.Uint64(content[16:])),
		}}
	}
	return h, nil
}
