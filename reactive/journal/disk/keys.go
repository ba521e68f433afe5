package disk

import (
	"encoding/binary"

	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// Key spaces and keys: see package records.
const spaceHeads = records.SpaceHeads

var (
	appendStreamPrefix  = records.AppendEventsPrefix
	appendEventsKey     = records.AppendEventsKey
	appendContentPrefix = records.AppendContentPrefix
	appendContentKey    = records.AppendContentKey
	hashOf              = records.HashOf
	behind              = records.Behind
	firstOf             = records.FirstOf
	appendHeadKey       = records.AppendHeadKey
)

// commitKey holds the number of the last commit.
var commitKey = []byte("commit")

const recordHeader = records.SealHeader

// The records of all keys have one form: see package records.
var (
	beginRecord = records.BeginSealed
	seal        = records.Seal
	unseal      = records.Unseal
)

// appendCommit appends the record with the number of the commit that it belongs to.
func appendCommit(dst []byte, number uint64) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(beginRecord(dst), number)
	seal(dst[begin:], commitKey)
	return dst
}
