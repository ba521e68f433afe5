package document

import "errors"

// ErrLimit is the cause of every error about a document that is larger or deeper than its Limits allow.
var ErrLimit = errors.New("document: limit exceeded")

// depthDefault is the default depth of mappings and sequences, which is that of values.
const depthDefault = 128

// BytesMax is the default limit of a file's size: 1 MiB. Readers of files need read no more.
const BytesMax = 1 << 20

// Limits bound the documents that Parse accepts. They are enforced before anything is built from the text, so refusing a hostile
// document costs no more than reading it.
type Limits struct {
	Bytes     int // of the whole file. Default: 1 MiB
	Depth     int // of mappings and sequences within each other. Default: 128, as deep as a value may nest
	Keys      int // of one mapping. Default: 10,000
	Text      int // bytes of one string or key. Default: 256 KiB
	Documents int // in one file. Default: 1,000
}

// DefaultLimits returns the default limits.
func DefaultLimits() Limits {
	return Limits{Bytes: BytesMax, Depth: depthDefault, Keys: 10_000, Text: 256 << 10, Documents: 1_000}
}

func (l *Limits) fields() []*int { return []*int{&l.Bytes, &l.Depth, &l.Keys, &l.Text, &l.Documents} }

func (l Limits) withDefaults() Limits {
	defaults := DefaultLimits()
	for i, most := range defaults.fields() {
		if limit := l.fields()[i]; *limit <= 0 {
			*limit = *most
		}
	}
	return l
}
