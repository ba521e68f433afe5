package records

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// SealVersion is the version of the layout of records, stored in each record. Their contents have separate versions.
const SealVersion = 1

// SealHeader is the size of the checksum and the version that precede the content of a record.
const SealHeader = 4 + 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BeginSealed appends room for the header of a record. The caller then appends the content and calls Seal.
func BeginSealed(dst []byte) []byte { return append(dst, 0, 0, 0, 0, SealVersion) }

// Seal completes the header of a record for a key. The checksum covers the key, so a record under another key is damage.
func Seal(record, key []byte) { binary.BigEndian.PutUint32(record, checksum(record, key)) }

func checksum(record, key []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, record[4:])
}

// Unseal checks a record found under key and returns its content, which is part of the record.
func Unseal(record, key []byte) ([]byte, error) {
	_, content, err := UnsealUpTo(SealVersion, record, key)
	return content, err
}

// UnsealUpTo is like Unseal for records with versions up to known, and also returns the version.
func UnsealUpTo(known byte, record, key []byte) (version byte, content []byte, err error) {
	if len(record) < SealHeader || binary.BigEndian.Uint32(record) != checksum(record, key) {
		return 0, nil, fmt.Errorf("%w: its checksum is wrong", journal.ErrDamaged)
	}
	version = record[SealHeader-1]
	if version < SealVersion || version > known {
		return 0, nil, fmt.Errorf("%w: record of version %d, and this program reads %d", journal.ErrVersion, version, known)
	}
	return version, record[SealHeader:], nil
}
