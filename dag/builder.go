package dag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// KeyBytesMax is the longest node key in bytes.
const KeyBytesMax = 1<<16 - 1

// problemsMax bounds how many problems Build and Parse report; the rest are counted.
const problemsMax = 64

// Builder collects nodes and edges and packs them into a Graph. Its methods record faults and Build returns them, so the
// calls need no error checks. A Builder belongs to one goroutine.
type Builder struct {
	kind Kind
	max  limits
	keys *keyTable

	// Edges in order of insertion, one array per field. attrs packs type and flags; guardedEdges lists, in ascending order,
	// the few edges with guards, and guardSets their sets, so that other edges cost nothing.
	from, to     []int32
	attrs        []attrBits
	guardedEdges []int32
	guardSets    []int32

	guards     [][]Guard
	guardIndex map[string]int32 // encoded guards to their index in guards
	scratch    []byte

	problems problems
}

// limits are the ranges of 32-bit ids and offsets. They are fields of a Builder, so that tests can lower them.
type limits struct{ nodes, edges, keyBytes int }

var limitsDefault = limits{nodes: math.MaxInt32 - 1, edges: math.MaxInt32 - 1, keyBytes: math.MaxUint32}

// NewBuilder returns a Builder of an empty graph of the given kind. It panics if kind is neither TemplateGraph nor CallGraph.
func NewBuilder(kind Kind) *Builder {
	if kind != TemplateGraph && kind != CallGraph {
		panic(fmt.Sprintf("dag: NewBuilder of unknown %v", kind))
	}
	return &Builder{kind: kind, max: limitsDefault, keys: newKeyTable()}
}

// Grow reserves room for a total number of nodes and edges. Calling it is never necessary.
func (b *Builder) Grow(nodes, edges int) {
	b.keys.grow(nodes)
	if extra := edges - len(b.from); extra > 0 {
		b.from = slices.Grow(b.from, extra)
		b.to = slices.Grow(b.to, extra)
		b.attrs = slices.Grow(b.attrs, extra)
	}
}

// AddNode adds a node and returns its id, the number of nodes before it. If the key is taken, AddNode records a fault and
// returns the id of the node with that key; if the key is not valid (see ErrKey), it records a fault and returns -1. Keys
// are copied.
func (b *Builder) AddNode(key string) int32 {
	id, err := b.addNode(key)
	if err != nil {
		b.problems.add(err)
	}
	return id
}

// AddEdge adds an edge between two ids that AddNode returned. Adding an edge again with the same attributes changes nothing;
// other attributes are a fault, and so are attributes that the type does not allow. Edges from or to -1 are dropped
// silently, because that node has been reported. Guards are copied.
func (b *Builder) AddEdge(from, to int32, attrs Attributes) {
	if from == -1 || to == -1 {
		return
	}
	if err := b.addEdge(from, to, attrs); err != nil {
		b.problems.add(fmt.Errorf("edge %s: %w", b.describe(from, to, attrs.Type), err))
	}
}

// Node returns the id of a key added before.
func (b *Builder) Node(key string) (id int32, ok bool) { return b.keys.find(key) }

// Build packs the nodes and edges into a Graph, orders it and leaves the builder empty. The error joins all faults, in the
// order in which they were found, at most 64 and a count of the rest; the graph is then nil. Cycles are not an error here;
// see Graph.CheckAcyclic. O(nodes + edges).
func (b *Builder) Build() (*Graph, error) { return b.build(false) }

// build also reports edges added twice with the same attributes if strict is set.
func (b *Builder) build(strict bool) (*Graph, error) {
	defer func() { *b = *NewBuilder(b.kind) }()
	b.keys.trim()
	g := &Graph{kind: b.kind, keys: b.keys, guards: b.guards}
	b.pack(g, strict)
	if err := b.problems.join(); err != nil {
		return nil, err
	}
	g.sort()
	return g, nil
}

// addNode adds a node or returns an error, which Parse prefixes with the path of the node. A key must be valid UTF-8, to
// survive encoding as JSON, and not empty, to differ from a missing key.
func (b *Builder) addNode(key string) (int32, error) {
	switch {
	case key == "":
		return -1, fmt.Errorf("%w: empty", ErrKey)
	case len(key) > KeyBytesMax:
		return -1, fmt.Errorf("%w: %.20q… has %d bytes, at most %d are allowed", ErrKey, key, len(key), KeyBytesMax)
	case !utf8.ValidString(key):
		return -1, fmt.Errorf("%w: %q is not valid UTF-8", ErrKey, key)
	case b.keys.len() >= b.max.nodes:
		return -1, fmt.Errorf("%w: more than %d nodes", ErrTooLarge, b.max.nodes)
	case len(b.keys.text)+len(key) > b.max.keyBytes:
		return -1, fmt.Errorf("%w: more than %d bytes of keys", ErrTooLarge, b.max.keyBytes)
	}
	id, added := b.keys.insert(key)
	if !added {
		return id, fmt.Errorf("%w: %q", ErrDuplicateNode, key)
	}
	return id, nil
}

// addEdge adds an edge or returns an error. Sorting the edges finds duplicates later, which saves a table.
func (b *Builder) addEdge(from, to int32, attrs Attributes) error {
	for _, end := range [...]int32{from, to} {
		if uint32(end) >= uint32(b.keys.len()) {
			return fmt.Errorf("%w: id %d", ErrUnknownNode, end)
		}
	}
	if len(b.from) >= b.max.edges {
		return fmt.Errorf("%w: more than %d edges", ErrTooLarge, b.max.edges)
	}
	if err := b.kind.check(attrs); err != nil {
		return err
	}
	if len(attrs.Guards) > 0 {
		b.guardedEdges = append(b.guardedEdges, int32(len(b.from)))
		b.guardSets = append(b.guardSets, b.internGuards(attrs.Guards))
	}
	b.from = append(b.from, from)
	b.to = append(b.to, to)
	b.attrs = append(b.attrs, packAttrs(attrs))
	return nil
}

// check validates attributes for a graph of kind k.
func (k Kind) check(attrs Attributes) error {
	if err := attrs.Check(); err != nil {
		return err
	}
	if attrs.Type.Kind() != k {
		return &FieldError{"edgeType", fmt.Errorf("%w: a %s graph has no %s edges", ErrEdgeType, k, attrs.Type)}
	}
	return nil
}

// internGuards stores equal lists of guards once: a branch of ten thousand steps repeats its condition on every edge.
func (b *Builder) internGuards(guards []Guard) int32 {
	code := b.scratch[:0]
	for _, guard := range guards {
		// The length prefix distinguishes lists whose concatenated texts are equal.
		sign := byte('+')
		if guard.Negated {
			sign = '-'
		}
		code = binary.AppendUvarint(append(code, sign), uint64(len(guard.Condition)))
		code = append(code, guard.Condition...)
	}
	b.scratch = code
	if set, ok := b.guardIndex[string(code)]; ok {
		return set
	}
	if b.guardIndex == nil {
		b.guardIndex = map[string]int32{}
	}
	set := int32(len(b.guards))
	b.guards = append(b.guards, slices.Clone(guards))
	b.guardIndex[string(code)] = set
	return set
}

// guardSet returns the index of the guards of the i-th edge added. The edge must have guards.
func (b *Builder) guardSet(i int32) int32 {
	at, _ := slices.BinarySearch(b.guardedEdges, i)
	return b.guardSets[at]
}

// describe names an edge in an error, even if its ends or type are invalid.
func (b *Builder) describe(from, to int32, t EdgeType) string {
	name := func(id int32) string {
		if uint32(id) < uint32(b.keys.len()) {
			return b.keys.key(id)
		}
		return fmt.Sprintf("(node %d)", id)
	}
	if !t.known() {
		t = b.kind.Primary()
	}
	return edgeKey(b.kind, name(from), name(to), t)
}

// problems collects errors up to a limit and counts the rest, so that the report on a hostile document is not larger than the
// document.
type problems struct {
	errs []error
	more int
}

func (p *problems) add(err error) {
	if len(p.errs) == problemsMax {
		p.more++
		return
	}
	p.errs = append(p.errs, err)
}

func (p *problems) join() error {
	if p.more > 0 {
		return errors.Join(append(slices.Clip(p.errs), fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.errs...)
}
