package document

import "errors"

// ErrLimit is the cause of every error about a document that exceeds its Limits.
var ErrLimit = errors.New("document: limit exceeded")

// depthDefault is the default limit of the depth of mappings and sequences. Values have the same limit.
const depthDefault = 128

// BytesMax is the default limit of the size of a file: 1 MiB. A program that reads a file need not read more.
const BytesMax = 1 << 20

// Limits bound the documents that Parse accepts. They are enforced before anything is built from the text, except Keys of a
// YAML mapping in braces, so refusing a hostile document costs no more than reading it.
type Limits struct {
	Bytes     int // of the whole file. Default: 1 MiB
	Depth     int // of nested mappings and sequences. Default: 128, the limit of values
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
