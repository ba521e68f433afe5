package disk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Key spaces, by the first byte of a key. Part of the stored format: see doc.go.
const (
	spaceEvents = 'e'
	spaceHeads  = 'h'
)

// commitKey holds the number of the last commit.
var commitKey = []byte("commit")

// recordVersion is the version of the layout of records, stored in each. Their contents have versions of their own.
const recordVersion = 1

// recordHeader is the size of the checksum and the version that precede the content of a record.
const recordHeader = 4 + 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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

// beginRecord appends room for a record's header; the content follows, and then seal.
func beginRecord(dst []byte) []byte {
	return append(dst, 0, 0, 0, 0, recordVersion)
}

// seal completes the header of record, which is to be stored under key. The checksum covers the key as well, so a record
// stored under another key is damage.
func seal(record, key []byte) {
	binary.BigEndian.PutUint32(record, checksum(record, key))
}

func checksum(record, key []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, record[4:])
}

// unseal checks a record that was found under key and returns its content, which is part of it.
func unseal(record, key []byte) ([]byte, error) {
	if len(record) < recordHeader || binary.BigEndian.Uint32(record) != checksum(record, key) {
		return nil, fmt.Errorf("%w: its checksum is wrong", journal.ErrDamaged)
	}
	if v := record[recordHeader-1]; v != recordVersion {
		return nil, fmt.Errorf("%w: record of version %d, and this program knows %d", journal.ErrVersion, v, recordVersion)
	}
	return record[recordHeader:], nil
}

// headRecord is the content of the record under a stream's head key: the last sequence of the stream, whether it has a
// head or not, and the encoding of the head, without Last.
type headRecord struct {
	last uint64
	head []byte // empty: none
}

// append appends the sealed record, which is to be stored under key.
func (h headRecord) append(dst, key []byte) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(beginRecord(dst), h.last)
	dst = append(dst, h.head...)
	seal(dst[begin:], key)
	return dst
}

// openHead reads a record that was found under key; the head is part of it.
func openHead(record, key []byte) (headRecord, error) {
	content, err := unseal(record, key)
	if err == nil && len(content) < 8 {
		err = fmt.Errorf("%w: it is too short", journal.ErrDamaged)
	}
	if err != nil {
		return headRecord{}, fmt.Errorf("head of %s: %w", key[1:], err)
	}
	return headRecord{last: binary.BigEndian.Uint64(content), head: content[8:]}, nil
}
