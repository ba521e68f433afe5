package disk

import "github.com/sluiceflow/sluice/reactive/journal/disk/records"

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
var commitKey = records.CommitKey

const recordHeader = records.SealHeader

// The records of all keys have one form: see package records.
var (
	appendCommit = records.AppendCommit
	beginRecord  = records.BeginSealed
	seal         = records.Seal
	unseal       = records.Unseal
)
