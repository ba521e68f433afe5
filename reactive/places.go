package reactive

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template/plan"
)

// places holds the nodes with their names and their order: the steps, maps and conditionals of the workflow and of the items of
// maps, or the calls of a routed run.
type places struct {
	l      ledger.Keeper
	plan   *plan.Plan
	bank   *signals.Bank
	blocks []block
	keys   []string // of instances in blocks, made on demand
	maps   map[int32]*expansion
	routed *Calls // nil unless the run is routed
}

func newPlaces(l ledger.Keeper, p *plan.Plan, bank *signals.Bank) *places {
	return &places{l: l, plan: p, bank: bank, blocks: []block{{owner: -1, parent: -1, row: -1}}, maps: map[int32]*expansion{}}
}

// block is one item of a map: an instance of the map's body.
//
// Node lo+i of the body's rows [row+1, End) is node base+i.
type block struct {
	owner  int32 // node of the map
	parent int32 // block that holds the map
	index  int32 // of the item
	row    int32 // row of the map
	base   int32 // first node
	slots  int32 // first of its groups
}

// expansion holds the items of a map.
type expansion struct {
	items     []any
	blocks    []int32 // by item; may be longer than items: blocks of an earlier, longer list are kept for reuse
	unsettled int32   // nodes of the items that have not settled
	bad       int32   // nodes of the items that failed for good or were aborted
}

// Node returns the node of a step, a map or an item by its key, such as `pay` or `check[3]`. It reports false if there is no
// such node now.
func (p *places) Node(key string) (int32, bool) {
	if p.routed != nil {
		return p.routed.find(key)
	}
	id, indexes, ok := plan.ParseKey(key)
	if !ok {
		return -1, false
	}
	row, ok := p.plan.Row(id)
	if !ok || p.plan.Depth(row) != len(indexes) {
		return -1, false
	}
	v := p.locate(row, indexes)
	if v < 0 || p.l.Node(v).Status == ledger.Absent {
		return -1, false
	}
	return v, true
}

// locate returns the instance of a row by one index for each map around it, outermost first, or -1 if an item does not exist.
func (p *places) locate(row int32, indexes []int) int32 {
	if len(indexes) == 0 {
		return row
	}
	last := len(indexes) - 1
	owner := p.locate(p.plan.Nodes[row].Map, indexes[:last])
	if owner < 0 {
		return -1
	}
	x := p.maps[owner]
	if x == nil || indexes[last] >= len(x.blocks) {
		return -1
	}
	b := &p.blocks[x.blocks[indexes[last]]]
	return b.base + row - (b.row + 1)
}

// Key returns the name of a node in journals: its id, and the index of each map around it.
func (p *places) Key(v int32) string {
	if int(v) < len(p.plan.Keys) {
		return p.plan.Keys[v]
	}
	if p.routed != nil {
		return p.routed.of(v).key
	}
	key := p.plan.Keys[p.bank.Row(v)]
	if key == "" {
		return ""
	}
	i := int(v) - len(p.plan.Nodes)
	for len(p.keys) <= i {
		p.keys = append(p.keys, "")
	}
	if p.keys[i] == "" {
		p.keys[i] = key + p.suffix(p.l.Node(v).Block)
	}
	return p.keys[i]
}

func (p *places) suffix(b int32) string {
	if b == 0 {
		return ""
	}
	return p.suffix(p.blocks[b].parent) + "[" + strconv.Itoa(int(p.blocks[b].index)) + "]"
}

// inSameBody returns the instance of a row that is in the same body as node v.
func (p *places) inSameBody(v, row int32) int32 { return v + row - p.bank.Row(v) }

// extent returns the range of nodes [lo, hi) of a block.
func (p *places) extent(b int32) (lo, hi int32) {
	if b == 0 {
		return 0, int32(len(p.plan.Nodes))
	}
	blk := &p.blocks[b]
	return blk.base, blk.base + p.plan.Nodes[blk.row].End - blk.row - 1
}

// Compare compares nodes by template order, for sorting: the items of a map follow the map, in order. O(depth of maps).
func (p *places) Compare(a, b int32) int {
	switch {
	case a == b:
		return 0
	case p.before(a, b):
		return -1
	}
	return 1
}

// before reports whether a comes before b in template order. If the nodes are in different bodies, it compares the maps that
// hold them, then the items.
func (p *places) before(a, b int32) bool {
	if p.routed != nil {
		return p.routed.of(a).number < p.routed.of(b).number
	}
	ba, bb := p.l.Node(a).Block, p.l.Node(b).Block
	if ba == bb {
		return a < b
	}
	da, db := p.depth(ba), p.depth(bb)
	ia, ib := int32(-1), int32(-1) // index of the item that holds a or b, once the loop has left it
	climb := func(v *int32, blk *int32, index *int32, d *int) {
		*index = p.blocks[*blk].index
		*v = p.blocks[*blk].owner
		*blk = p.l.Node(*v).Block
		*d--
	}
	for da > db {
		climb(&a, &ba, &ia, &da)
	}
	for db > da {
		climb(&b, &bb, &ib, &db)
	}
	for ba != bb {
		climb(&a, &ba, &ia, &da)
		climb(&b, &bb, &ib, &db)
	}
	if a != b {
		return a < b
	}
	return ia < ib
}

func (p *places) depth(b int32) int {
	d := 0
	for ; b != 0; b = p.blocks[b].parent {
		d++
	}
	return d
}

// entry returns the entry of a node in the queues: the node, or in a routed run the number of its call.
func (p *places) entry(v int32) int32 {
	if p.routed == nil {
		return v
	}
	return p.routed.of(v).number
}

// entered returns the node of an entry of a queue. It reports false if the entry's call was closed.
func (p *places) entered(e int32) (int32, bool) {
	if p.routed == nil {
		return e, true
	}
	v, ok := p.routed.numbered[e]
	return v, ok
}

// entryBefore is like before, for entries.
func (p *places) entryBefore(a, b int32) bool {
	if p.routed != nil {
		return a < b
	}
	return p.before(a, b)
}

// inOrder returns the nodes in template order, or calls in the order of opening.
func (p *places) inOrder() []int32 {
	list := make([]int32, 0, p.l.Len())
	for v := range p.l.Len() {
		if p.routed == nil || int(v) >= len(p.plan.Nodes) && p.routed.of(v).open {
			list = append(list, v)
		}
	}
	if p.routed != nil {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(p.routed.of(a).number, p.routed.of(b).number) })
	}
	return list
}
