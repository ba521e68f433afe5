package trie

import (
	"crypto/sha256"
	"fmt"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

// Status is the status of a cell; its numbers are part of the format.
type Status uint8

// The statuses of cells.
const (
	Running   Status = 0
	Waiting   Status = 1
	Completed Status = 2
	Failed    Status = 3
)

// A Cell is an entry of a CellIndex, the trie of the cells of one machine. It is encoded as the array of its fields, in their order,
// and its path is the SHA-256 of its key.
type Cell struct {
	// Key is the encoded key of the cell.
	Key []byte

	// State is the hash of the state, or zero (in the encoding null) if there is none, and Size the number of its bytes.
	State Hash
	Size  uint64

	// LastActive is the instant of the last activation in nanoseconds since 1970, and LastSeq the sequence of its event.
	LastActive int64
	LastSeq    uint64

	// Status is at most Failed.
	Status Status

	// Generation is a number that the caller chooses.
	Generation uint64

	// Work is the hash of the open intents, held mail and failure of the cell, or zero if it has none of these.
	Work Hash
}

// Cells returns a Trie of cells.
func Cells(fetch func(hash Hash) ([]byte, error)) Trie {
	return Trie{PathBytes: sha256.Size, AppendPath: appendCellPath, Fetch: fetch}
}

func appendCellPath(dst, data []byte) ([]byte, error) {
	c, err := decodeCell(data)
	path := sha256.Sum256(c.Key)
	return append(dst, path[:]...), err
}

// Entry returns the cell as an entry: its path, and its encoding.
func (c Cell) Entry() Entry {
	path := sha256.Sum256(c.Key)
	return Entry{Path: path[:], Data: c.Append(nil)}
}

// cellFields is the number of fields of an encoded cell.
const cellFields = 8

// Append appends the encoding of the cell.
func (c Cell) Append(dst []byte) []byte {
	dst = append(dst, majorArray|cellFields)
	dst = appendBytes(dst, c.Key)
	dst = appendHash(dst, c.State)
	dst = cborhead.Append(dst, majorUint, c.Size)
	dst = appendInt(dst, c.LastActive)
	dst = cborhead.Append(dst, majorUint, c.LastSeq)
	dst = cborhead.Append(dst, majorUint, uint64(c.Status))
	dst = cborhead.Append(dst, majorUint, c.Generation)
	return appendHash(dst, c.Work)
}

func appendHash(dst []byte, hash Hash) []byte {
	if hash == (Hash{}) {
		return append(dst, itemNull)
	}
	return appendBytes(dst, hash[:])
}

// DecodeCell decodes a cell; its key is part of data. It accepts only the output of Append: any other bytes are ErrDamaged.
func DecodeCell(data []byte) (Cell, error) {
	c, err := decodeCell(data)
	if err != nil {
		return Cell{}, fmt.Errorf("%w: a cell: %w", ErrDamaged, err)
	}
	return c, nil
}

func decodeCell(data []byte) (Cell, error) {
	d := &decoder{b: data}
	d.array(cellFields)
	c := Cell{
		Key:        d.bytes(),
		State:      d.hash(),
		Size:       d.argument(majorUint),
		LastActive: d.int(),
		LastSeq:    d.argument(majorUint),
		Status:     d.status(),
		Generation: d.argument(majorUint),
		Work:       d.hash(),
	}
	return c, d.end()
}

func (d *decoder) status() Status {
	n := d.argument(majorUint)
	if n > uint64(Failed) {
		d.fail(fmt.Errorf("status %d", n))
		return 0
	}
	return Status(n)
}
