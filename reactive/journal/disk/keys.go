package disk

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/sealed"
)

// Key spaces, by the first byte of a key. Part of the stored format: see doc.go.
const (
	spaceContent = 'b'
	spaceEvents  = 'e'
	spaceHeads   = 'h' // those of indexes and changes are in packages index and changelog
)

// commitKey holds the number of the last commit.
var commitKey = []byte("commit")

// The head of a trimmed stream has trimmedVersion: a program that does not know it must not take the missing events for damage.
// What stands in the place of the head of a deleted stream has deletedVersion, and nothing but the sequence that was the last.
const (
	trimmedVersion = 2
	deletedVersion = 3
)

const recordHeader = sealed.Header

// appendStreamPrefix appends the prefix of the keys of a stream's records. A zero byte ends the name, so that no stream's
// prefix is a prefix of another's.
func appendStreamPrefix(dst []byte, stream string) []byte {
	dst = append(dst, spaceEvents)
	dst = append(dst, stream...)
	return append(dst, 0)
}

// appendEventsKey appends the key of the record whose first event is seq.
func appendEventsKey(dst []byte, stream string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(appendStreamPrefix(dst, stream), seq)
}

// appendContentPrefix appends the prefix of the keys of a stream's content.
func appendContentPrefix(dst []byte, stream string) []byte {
	dst = append(dst, spaceContent)
	dst = append(dst, stream...)
	return append(dst, 0)
}

// appendContentKey appends the key of content.
func appendContentKey(dst []byte, stream string, hash journal.Hash) []byte {
	return append(appendContentPrefix(dst, stream), hash[:]...)
}

// hashOf returns the hash of content from its key. It reports false if the key does not have the prefix.
func hashOf(key, prefix []byte) (hash journal.Hash, ok bool) {
	if len(key) != len(prefix)+len(hash) || !bytes.HasPrefix(key, prefix) {
		return hash, false
	}
	return journal.Hash(key[len(prefix):]), true
}

// behind returns the first key after all those with a prefix that ends with a zero byte.
func behind(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	end[len(end)-1] = 1
	return end
}

func appendHeadKey(dst []byte, stream string) []byte {
	return append(append(dst, spaceHeads), stream...)
}

// firstOf returns the first sequence of a record from its key. It reports false if the key does not have the prefix.
func firstOf(key, prefix []byte) (first uint64, ok bool) {
	if len(key) != len(prefix)+8 || !bytes.HasPrefix(key, prefix) {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[len(prefix):]), true
}

// The records of all keys have one form: see package sealed.
var (
	beginRecord = sealed.Begin
	seal        = sealed.Seal
	unseal      = sealed.Open
)

// headRecord is the content of the record under a stream's head key: the last sequence of the stream, whether it has a
// head or not, the first behind those that were trimmed, and the encoding of the head, without both.
type headRecord struct {
	last    uint64
	first   uint64 // 0: none were trimmed
	head    []byte // empty: none
	deleted bool
}

// append appends the sealed record, which is to be stored under key.
func (h headRecord) append(dst, key []byte) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(beginRecord(dst), h.last)
	switch {
	case h.deleted:
		dst[begin+recordHeader-1] = deletedVersion
	case h.first > 0:
		dst[begin+recordHeader-1] = trimmedVersion
		dst = binary.BigEndian.AppendUint64(dst, h.first)
	}
	dst = append(dst, h.head...)
	seal(dst[begin:], key)
	return dst
}

// openHead reads a record that was found under key; the head is part of it.
func openHead(record, key []byte) (headRecord, error) {
	version, content, err := sealed.OpenUpTo(deletedVersion, record, key)
	numbers := 8
	if version == trimmedVersion {
		numbers = 16
	}
	if err == nil && len(content) < numbers {
		err = fmt.Errorf("%w: it is too short", journal.ErrDamaged)
	}
	if err != nil {
		return headRecord{}, fmt.Errorf("head of %s: %w", key[1:], err)
	}
	h := headRecord{last: binary.BigEndian.Uint64(content), head: content[numbers:], deleted: version == deletedVersion}
	if version == trimmedVersion {
		h.first = binary.BigEndian.Uint64(content[8:])
	}
	return h, nil
}

// appendCommit appends the record with the number of the commit that it belongs to.
func appendCommit(dst []byte, number uint64) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(beginRecord(dst), number)
	seal(dst[begin:], commitKey)
	return dst
}
