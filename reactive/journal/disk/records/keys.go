package records

import (
	"bytes"
	"encoding/binary"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Key spaces of streams, by the first byte of a key. Part of the stored format: see package disk.
const (
	SpaceContent = 'b'
	SpaceEvents  = 'e'
	SpaceHeads   = 'h'
)

// AppendEventsPrefix appends the prefix of the keys of a stream's records. A zero byte ends the name, so that no stream's
// prefix is a prefix of another's.
func AppendEventsPrefix(dst []byte, stream string) []byte {
	dst = append(dst, SpaceEvents)
	dst = append(dst, stream...)
	return append(dst, 0)
}

// AppendEventsKey appends the key of the record with first event seq.
func AppendEventsKey(dst []byte, stream string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(AppendEventsPrefix(dst, stream), seq)
}

// AppendContentPrefix appends the prefix of the keys of a stream's content.
func AppendContentPrefix(dst []byte, stream string) []byte {
	dst = append(dst, SpaceContent)
	dst = append(dst, stream...)
	return append(dst, 0)
}

// AppendContentKey appends the key of content.
func AppendContentKey(dst []byte, stream string, hash journal.Hash) []byte {
	return append(AppendContentPrefix(dst, stream), hash[:]...)
}

// HashOf returns the hash of content from its key. It reports false if the key does not have the prefix.
func HashOf(key, prefix []byte) (hash journal.Hash, ok bool) {
	if len(key) != len(prefix)+len(hash) || !bytes.HasPrefix(key, prefix) {
		return hash, false
	}
	return journal.Hash(key[len(prefix):]), true
}

// Behind returns the first key after all keys with a prefix that ends with a zero byte.
func Behind(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	end[len(end)-1] = 1
	return end
}

// AppendHeadKey appends the key of a head.
func AppendHeadKey(dst []byte, stream string) []byte {
	return append(append(dst, SpaceHeads), stream...)
}

// FirstOf returns the first sequence of a record from its key. It reports false if the key does not have the prefix.
func FirstOf(key, prefix []byte) (first uint64, ok bool) {
	if len(key) != len(prefix)+8 || !bytes.HasPrefix(key, prefix) {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[len(prefix):]), true
}

// CommitKey holds the number of the last commit.
var CommitKey = []byte("commit")

// AppendCommit appends the record with the number of the commit that it belongs to.
func AppendCommit(dst []byte, number uint64) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(BeginSealed(dst), number)
	Seal(dst[begin:], CommitKey)
	return dst
}
