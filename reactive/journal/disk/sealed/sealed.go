// Package sealed is the form of the records in the database of package disk: a checksum that covers the key and the content, a
// version, and the content.
package sealed

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Version is the version of the layout of records, stored in each. Their contents have versions of their own.
const Version = 1

// Header is the size of the checksum and the version that precede the content of a record.
const Header = 4 + 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Begin appends room for a record's header; the content follows, and then Seal.
func Begin(dst []byte) []byte { return append(dst, 0, 0, 0, 0, Version) }

// Seal completes the header of record, which is to be stored under key. The checksum covers the key as well, so a record
// stored under another key is damage.
func Seal(record, key []byte) { binary.BigEndian.PutUint32(record, checksum(record, key)) }

func checksum(record, key []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, record[4:])
}

// Open checks a record that was found under key and returns its content, which is part of it.
func Open(record, key []byte) ([]byte, error) {
	_, content, err := OpenUpTo(Version, record, key)
	return content, err
}

// OpenUpTo is Open for records that also have later versions; it returns that of this one.
func OpenUpTo(known byte, record, key []byte) (version byte, content []byte, err error) {
	if len(record) < Header || binary.BigEndian.Uint32(record) != checksum(record, key) {
		return 0, nil, fmt.Errorf("%w: its checksum is wrong", journal.ErrDamaged)
	}
	version = record[Header-1]
	if version < Version || version > known {
		return 0, nil, fmt.Errorf("%w: record of version %d, and this program knows %d", journal.ErrVersion, version, known)
	}
	return version, record[Header:], nil
}
