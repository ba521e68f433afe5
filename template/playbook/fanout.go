package playbook

import (
	"cmp"
	"math/bits"
	"slices"
)

// The arcs alone determine to which fan-outs a join belongs; see the package documentation. Two questions are asked of the
// graph, each for many fan-outs at once: to which joins does an arc lead (missing), and which fan-outs may be open where a
// token arrives (open). The second keeps its answer small: of two fan-outs in sequence, the join between them has closed the
// first.

// fan is a step that may emit several tokens at once.
type fan struct {
	step    int32
	targets []int32 // of its arcs, each once
}

// fanBlock is a set of fan-outs that are examined together. A bit stands for a target: the lower part of its number is the
// fan-out's place in the block, the upper part the target's.
type fanBlock struct {
	fans  []fan
	slots int // maximum number of targets of each, a power of two; only a block of one fan-out has more
}

func (b *fanBlock) width() int { return bitsMax / b.slots }

// fanOuts are the fan-outs and joins of a playbook.
type fanOuts struct {
	book   *Playbook
	ways   *ways
	blocks []fanBlock
	number []int32  // of fan-outs, by step: halfMax for each block; -1: not a fan-out
	joins  []int32  // steps
	join   []int32  // index into joins, by step; -1: not a join
	others []fanSet // by join: fan-outs that may be open when a token arrives, but to which the join does not belong
	work   int      // steps visited so far
}

// AnswersTo reports whether a join belongs to the fan-out of a step, though its tokens may have passed through further
// fan-outs: whether each arc of that step leads to the join on some path that does not pass through the step again. Both are
// given by index. It also reports false if that fan-out cannot be open when a token arrives.
func (p *Playbook) AnswersTo(join, step int) bool {
	n := p.fans[step]
	return n >= 0 && p.Steps[join].Join.answers.has(n)
}

// HasJoin reports whether some join belongs to the fan-out of a step, given by index.
func (p *Playbook) HasJoin(step int) bool {
	n := p.fans[step]
	return n >= 0 && p.joined[n/64]&(1<<(n%64)) != 0
}

// findFanOuts determines for every join the fan-outs to which it belongs.
func (p *Playbook) findFanOuts() *fanOuts {
	f := &fanOuts{book: p, number: make([]int32, len(p.Steps)), join: make([]int32, len(p.Steps))}
	p.fans = f.number
	var fans []fan
	for i, s := range p.Steps {
		f.number[i], f.join[i] = -1, -1
		if s.Join != nil {
			s.Join.answers = fanSet{}
			f.join[i] = int32(len(f.joins))
			f.joins = append(f.joins, int32(i))
		}
		if s.Next != nil && s.Next.Inclusive && len(s.Next.Arcs) > 1 {
			fans = append(fans, fan{step: int32(i)})
		}
	}
	f.others = make([]fanSet, len(f.joins))
	if len(f.joins) == 0 || len(fans) == 0 {
		return f
	}
	arcs := make([][]int32, len(p.Steps))
	for i, s := range p.Steps {
		arcs[i] = s.targets()
	}
	for i := range fans {
		fans[i].targets = arcs[fans[i].step]
	}
	f.split(fans)
	f.ways = newWays(arcs, int32(p.Executor.Entry))
	leads := make([]bitset, len(f.joins))
	p.joined = make([]uint64, len(f.blocks)*halfWords)
	for b := range f.blocks {
		f.leading(b, leads)
		f.open(b, leads)
	}
	return f
}

// targets returns the steps that a step's arcs lead to, each once.
func (s *Step) targets() []int32 {
	if s.Next == nil {
		return nil
	}
	list := make([]int32, len(s.Next.Arcs))
	for i := range s.Next.Arcs {
		list[i] = int32(s.Next.Arcs[i].To)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// split groups fan-outs with the same rounded number of targets into blocks of at most half as many bits as a bitset has.
func (f *fanOuts) split(fans []fan) {
	slots := func(f fan) int { return min(bitsMax, 1<<bits.Len(uint(len(f.targets)-1))) }
	slices.SortStableFunc(fans, func(a, b fan) int { return cmp.Compare(slots(a), slots(b)) })
	for len(fans) > 0 {
		b := fanBlock{slots: slots(fans[0])}
		for n := range min(len(fans), halfMax, b.width()) {
			if slots(fans[n]) == b.slots {
				f.number[fans[n].step] = int32(len(f.blocks)*halfMax + n)
				b.fans = fans[:n+1]
			}
		}
		f.blocks = append(f.blocks, b)
		fans = fans[len(b.fans):]
	}
}

// inBlock reports whether a step is a fan-out of a block; place returns its place in the block.
func (f *fanOuts) inBlock(step int32, b int) bool {
	return f.number[step] >= 0 && int(f.number[step])/halfMax == b
}

func (f *fanOuts) place(step int32) int { return int(f.number[step]) % halfMax }

// missing calls tell for every join with the targets of a block's fan-outs that do not lead to it, for one range of targets
// at a time.
func (f *fanOuts) missing(b int, tell func(join, from int, missing *bitset)) {
	block := &f.blocks[b]
	for from := 0; from < len(block.fans[0].targets); from += block.slots {
		f.ways.clear()
		own := make([]bitset, len(block.fans))
		var asked, missing bitset
		for k, fan := range block.fans {
			for slot, to := range fan.targets[from:min(from+block.slots, len(fan.targets))] {
				own[k].add(slot*block.width() + k)
				f.ways.put(to, oneBit(slot*block.width()+k))
			}
			asked.addAll(&own[k])
		}
		f.work += f.ways.spread(func(step int32, in *bitset) bitset {
			if f.inBlock(step, b) {
				return in.without(&own[f.place(step)]) // not through that fan-out again
			}
			return *in
		})
		for j, step := range f.joins {
			missing = asked.without(f.ways.at(step))
			tell(j, from, &missing)
		}
	}
}

// leading records for every join those fan-outs of a block each of whose arcs leads to it.
func (f *fanOuts) leading(b int, leads []bitset) {
	all := firstBits(len(f.blocks[b].fans))
	for j := range leads {
		leads[j] = all
	}
	f.missing(b, func(join, _ int, missing *bitset) {
		missing.fold(f.blocks[b].width())
		leads[join] = leads[join].without(missing)
	})
}

// open records for every join the fan-outs of a block that may be open when a token arrives there. The lower half of the
// bits are fan-outs in which no other has been opened yet, the upper half those in which one has. A token that leaves a join
// has left every fan-out to which the join belongs, and always the innermost.
func (f *fanOuts) open(b int, leads []bitset) {
	f.ways.clear()
	through := func(step int32, in *bitset) bitset {
		out := *in
		if j := f.join[step]; j >= 0 {
			for i := range halfWords {
				out[i], out[halfWords+i] = 0, out[halfWords+i]&^leads[j][i]
			}
		}
		if f.number[step] >= 0 {
			for i := range halfWords {
				out[halfWords+i] |= out[i]
			}
		}
		if f.inBlock(step, b) {
			out.add(f.place(step))
		}
		return out
	}
	for _, fan := range f.blocks[b].fans {
		out := through(fan.step, &bitset{})
		for _, to := range fan.targets {
			f.ways.put(to, out)
		}
	}
	f.work += f.ways.spread(through)
	for j, step := range f.joins {
		in := f.ways.at(step)
		for i := range halfWords {
			word, open := int32(b*halfWords+i), in[i]|in[halfWords+i]
			f.book.Steps[step].Join.answers.add(word, open&leads[j][i])
			f.book.joined[word] |= open & leads[j][i]
			f.others[j].add(word, open&^leads[j][i])
		}
	}
}

// fanSet is a set of fan-outs by number, stored as its words that are not zero.
type fanSet struct {
	at    []int32 // indexes of the words, ascending
	words []uint64
}

// add adds a word. Words are added in their order.
func (s *fanSet) add(at int32, word uint64) {
	if word != 0 {
		s.at, s.words = append(s.at, at), append(s.words, word)
	}
}

func (s *fanSet) has(number int32) bool {
	i, ok := slices.BinarySearch(s.at, number/64)
	return ok && s.words[i]&(1<<(number%64)) != 0
}

// all yields the numbers in their order.
func (s *fanSet) all(yield func(number int32) bool) {
	for i, word := range s.words {
		for ; word != 0; word &= word - 1 {
			if !yield(64*s.at[i] + int32(bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}
