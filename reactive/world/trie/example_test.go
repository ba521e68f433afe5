package trie_test

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// Roots are persistent: the entries under a root can be read after updates of it.
func Example() {
	store := map[trie.Hash][]byte{}
	put := func(hash trie.Hash, node []byte) error { store[hash] = node; return nil }
	cells := trie.Cells(func(hash trie.Hash) ([]byte, error) {
		if node, ok := store[hash]; ok {
			return node, nil
		}
		return nil, errors.New("not found")
	})

	cell := trie.Cell{Key: []byte("o-1"), Status: trie.Waiting, LastSeq: 3}
	before, err := cells.Update(trie.Empty, []trie.Entry{cell.Entry()}, put)
	if err != nil {
		panic(err)
	}
	cell.Status, cell.LastSeq = trie.Completed, 5
	after, err := cells.Update(before, []trie.Entry{cell.Entry()}, put)
	if err != nil {
		panic(err)
	}

	for _, root := range []trie.Hash{before, after} {
		for entry, err := range cells.Walk(root, nil, nil) {
			if err != nil {
				panic(err)
			}
			c, err := trie.DecodeCell(entry.Data)
			fmt.Printf("%s status %d, event %d, error %v\n", c.Key, c.Status, c.LastSeq, err)
		}
	}
	// Output:
	// o-1 status 1, event 3, error <nil>
	// o-1 status 2, event 5, error <nil>
}
