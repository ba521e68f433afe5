package trie

// Reencode decodes the node of a place and encodes it again.
func (t Trie) Reencode(data, path []byte, depth int) ([]byte, error) {
	n, err := t.decode(data, path, depth)
	switch {
	case err != nil:
		return nil, err
	case n.branch != nil:
		return encodeBranch(n.count, n.branch), nil
	}
	return encodeLeaf(n.entries), nil
}
