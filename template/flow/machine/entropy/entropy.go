// Package entropy draws the random numbers of activations. They follow from the seed of the run and the sequence of the
// activation's event, so that an activation that runs again draws the same.
package entropy

import (
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Rand is a source of random numbers of package math/rand/v2.
type Rand = rand.Rand

// Source is the entropy of one activation: SHA-512 of the seed and of the sequence in eight bytes, the highest first. The first
// half seeds the random numbers, the second the UUIDs; both are drawn from ChaCha8.
type Source struct{ numbers, ids *rand.ChaCha8 }

// New returns the entropy of an activation.
func New(seed [32]byte, seq uint64) *Source {
	sum := sha512.Sum512(binary.BigEndian.AppendUint64(seed[:], seq))
	return &Source{numbers: rand.NewChaCha8([32]byte(sum[:32])), ids: rand.NewChaCha8([32]byte(sum[32:]))}
}

// Rand returns the random numbers. It continues after those that were drawn.
func (s *Source) Rand() *Rand { return rand.New(s.numbers) }

// UUID draws a UUID of version 4.
func (s *Source) UUID() string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], s.ids.Uint64())
	binary.BigEndian.PutUint64(id[8:], s.ids.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
