// Package trie implements a content-addressed trie: a sorted set of entries, such as the cells of a machine by the hashes of their
// keys, in nodes that are identified by the hashes of their bytes.
//
//	cells := trie.Cells(fetch) // fetch returns the bytes with a hash
//	root, err := cells.Update(trie.Empty, []trie.Entry{cell.Entry()}, put)
//	for entry, err := range cells.Walk(root, nil, nil) { … }
//
// A root identifies a set, and sets share equal nodes: an Update replaces only the nodes above its changes. So a snapshot of a
// million cells, of which ten have changed, takes some forty nodes.
//
// # Nodes
//
// An entry has a path, bytes whose nibbles lead to it. A subtree of at most 64 entries is a leaf, any other a branch by the next nibble:
//
//	leaf    [0, [entry…]]                    in ascending order of the paths
//	branch  [1, count, bitmap, [hash…]]      bit n of the bitmap is the child with nibble n; children in that order
//
//	                     [1, 70, 0b1010, [·, ·]]
//	nibble 1  ┌────────────────────┴────────────────────┐  nibble 3
//	[0, [entries 1….]]                          [0, [entries 3….]]
//
// Both are CBOR in its deterministic form (RFC 8949, section 4.2.1); the hash is the SHA-256 of the bytes. So the root depends only
// on the entries, not on their order of insertion or on earlier entries. The encoding is a stored format.
//
// Package trie defines three kinds of entries: Cell, Deadline and Indexed. Other kinds determine the form of their entries, and the
// path of each (Trie.AppendPath): with an instant before a hash, the trie is a queue that is read up to an instant; with the hash of
// a value before the hash of a key, an index. An entry is one item made of integers, byte strings, texts, booleans, nulls and arrays.
//
// # Damage
//
// Every read node is verified: the hash of the bytes, their form, the places and the order of the entries, and the counts of read
// nodes. Any fault is ErrDamaged, and no part of a damaged node is returned. Errors of the caller's functions are returned wrapped.
//
// # Cost
//
// For n entries with paths that are hashes, reading one takes log₁₆ n nodes. A change reads and makes as many, and a batch processes
// the common nodes of its changes once. Memory holds the nodes on the path to one leaf and, during an Update, the leaves of one
// branch and the hashes of the read nodes. Of 1,000,000 cells of 67 bytes in a map, in CPU time of one machine (bench_test.go):
//
//	build                   1.2 s      69,905 nodes, 67 MB
//	change of 1 cell        0.02 ms    5 nodes, 3.2 kB a cell
//	change of 1,000         19 ms      2,140 nodes, 1.7 kB a cell
//	change of 10,000        150 ms     13,348 nodes, 1.2 kB a cell
//	reading all             0.6 s
//
// The package has no clock, no goroutine and does I/O only through its caller's functions.
package trie
