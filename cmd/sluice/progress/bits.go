package progress

import "math/bits"

// bitset is a set of small numbers whose iteration in order is cheap, even if it is large and nearly empty.
type bitset []uint64

func makeBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int32, in bool) {
	if in {
		b[i>>6] |= 1 << (i & 63)
	} else {
		b[i>>6] &^= 1 << (i & 63)
	}
}

func (b bitset) has(i int32) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// all yields the set in ascending order.
func (b bitset) all(yield func(i int32) bool) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(int32(w<<6 + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}
