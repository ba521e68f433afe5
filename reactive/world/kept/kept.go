// Package kept writes and reads the content of a world's snapshots: blobs, each identified by its hash, and values in them.
package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/value"
)

// Fetch returns the content with a hash.
type Fetch func(hash journal.Hash) ([]byte, error)

// Cells returns the reader of the tries of cells.
func (f Fetch) Cells() trie.Trie { return trie.Cells(f.Node) }

// Node returns a node of a trie.
func (f Fetch) Node(hash trie.Hash) ([]byte, error) { return f(journal.Hash(hash)) }

// Value returns the value with a hash.
func (f Fetch) Value(hash trie.Hash) (value.Value, error) {
	data, err := f(journal.Hash(hash))
	if err != nil {
		return nil, err
	}
	v, err := value.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", trie.ErrDamaged, err)
	}
	return v, nil
}

// Damaged wraps an error of reading content. Missing or damaged content becomes journal.ErrDamaged.
func Damaged(err error) error {
	if errors.Is(err, trie.ErrDamaged) || errors.Is(err, journal.ErrNotFound) {
		return fmt.Errorf("%w: the content of a snapshot: %w", journal.ErrDamaged, err)
	}
	return fmt.Errorf("the content of a snapshot: %w", err)
}

// Batch collects blobs and puts many at once.
type Batch struct {
	Put   func([][]byte) error // stores the blobs
	blobs [][]byte
	bytes int
}

// Bounds of a batch, far below the bounds of journal.ContentStore.
const (
	batchBlobs = 4096
	batchBytes = 4 << 20
)

// Add adds a blob.
func (b *Batch) Add(blob []byte) error {
	b.blobs = append(b.blobs, blob)
	if b.bytes += len(blob); len(b.blobs) < batchBlobs && b.bytes < batchBytes {
		return nil
	}
	return b.Flush()
}

// Value adds a value, and returns the hash of its encoding.
func (b *Batch) Value(v value.Value) (trie.Hash, error) {
	encoded, err := value.Encode(v)
	if err != nil {
		return trie.Hash{}, err
	}
	return sha256.Sum256(encoded), b.Add(encoded)
}

// Events adds events as one blob, and returns its hash.
func (b *Batch) Events(list []journal.Event) (trie.Hash, error) {
	var data []byte
	var err error
	codec := journal.Codec{}
	for i := range list {
		if data, err = codec.Append(data, &list[i]); err != nil {
			return trie.Hash{}, err
		}
	}
	return sha256.Sum256(data), b.Add(data)
}

// Flush puts the blobs added since the last Flush.
func (b *Batch) Flush() error {
	if len(b.blobs) == 0 {
		return nil
	}
	err := b.Put(b.blobs)
	b.blobs, b.bytes = nil, 0
	return err
}

// HashText returns a hash as text.
func HashText(h trie.Hash) string { return fmt.Sprintf("%x", h[:]) }

// ErrForm means that content does not have the form of a snapshot.
var ErrForm = errors.New("not of the form of a snapshot")

// Reader reads values of a snapshot. It records an error if a value does not have the expected form.
type Reader struct {
	Err error // error of the first such value
}

// Has records an error unless ok is true, and returns ok.
func (r *Reader) Has(ok bool) bool {
	if !ok && r.Err == nil {
		r.Err = fmt.Errorf("%w: %w", trie.ErrDamaged, ErrForm)
	}
	return ok
}

// Object reads an object.
func (r *Reader) Object(v value.Value) map[string]any {
	m, ok := v.(map[string]any)
	r.Has(ok)
	return m
}

// List reads a list; null is empty.
func (r *Reader) List(v value.Value) []any {
	l, ok := v.([]any)
	r.Has(ok || v == nil)
	return l
}

// Text reads a text.
func (r *Reader) Text(v value.Value) string {
	s, ok := v.(string)
	r.Has(ok)
	return s
}

// Int reads an integer.
func (r *Reader) Int(v value.Value) int64 {
	n, ok := v.(int64)
	r.Has(ok)
	return n
}

// Hash parses the result of HashText.
func (r *Reader) Hash(v value.Value) (h trie.Hash) {
	n, err := hex.Decode(h[:], []byte(r.Text(v)[:min(len(r.Text(v)), 2*len(h))]))
	r.Has(err == nil && n == len(h))
	return h
}

// Failure reads the result of FailureValue.
func (r *Reader) Failure(v value.Value) *journal.Failure {
	m := r.Object(v)
	return &journal.Failure{
		Code: r.Text(m["code"]), Message: r.Text(m["message"]), Details: m["details"], Retryable: m["retryable"] == true, Step: r.Text(m["step"]),
	}
}

// FailureValue returns a failure as a value.
func FailureValue(f *journal.Failure) map[string]any {
	details, _ := value.Of(f.Details)
	return map[string]any{"code": f.Code, "message": f.Message, "details": details, "retryable": f.Retryable, "step": f.Step}
}

// Texts reads a list of texts.
func (r *Reader) Texts(v value.Value) []string {
	list := r.List(v)
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = r.Text(x)
	}
	return out
}
