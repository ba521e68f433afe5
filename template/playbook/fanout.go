package playbook

import (
	"cmp"
	"math/bits"
	"slices"
)

// The arcs alone determine the fan-outs to which a join belongs; see the package documentation. This file answers two questions
// about the graph, each for many fan-outs at once: to which joins an arc does not lead (missing), and which fan-outs may be
// open when a token arrives at a join (open). The answers to the second question stay small: a join closes the fan-outs to
// which it belongs, so of two fan-outs in sequence only the second is open.

// fan is a step that may emit several tokens at once.
type fan struct {
	step    int32
	targets []int32 // of its arcs, each once
}

// fanBlock is a set of fan-outs that are examined together. Each bit stands for a target. The lower part of its number is the
// fan-out's place in the block, the upper part the target's place in the fan-out.
type fanBlock struct {
	fans  []fan
	slots int // maximum number of targets of each, a power of two; a single fan-out may have more
}

func (b *fanBlock) maxInFlight() int { return bitsMax / b.slots }

// fanOuts are the fan-outs and joins of a playbook.
type fanOuts struct {
	book   *Playbook
	ways   *arcGraph
	blocks []fanBlock
	number []int32  // of fan-outs, by step: halfMax for each block; -1: not a fan-out
	joins  []int32  // steps
	join   []int32  // index into joins, by step; -1: not a join
	others []fanSet // by join: fan-outs that may be open when a token arrives, but to which the join does not belong
	work   int      // steps visited so far
}

// AnswersTo reports whether a join belongs to the fan-out of a step, even if tokens have passed through further fan-outs on the
// way: each arc of that step leads to the join on some path that does not pass through the step again, and the fan-out can be
// open when a token arrives. Both arguments are indexes of steps.
func (p *Playbook) AnswersTo(join, step int) bool {
	n := p.fans[step]
	return n >= 0 && p.Steps[join].Join.answers.has(n)
}

// HasJoin reports whether a join belongs to the fan-out of a step. The argument is the index of the step.
func (p *Playbook) HasJoin(step int) bool {
	n := p.fans[step]
	return n >= 0 && p.joined[n/64]&(1<<(n%64)) != 0
}

// findFanOuts determines, for every join, the fan-outs to which it belongs.
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

// targets returns the steps to which a step's arcs lead, each once.
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

// split groups fan-outs with the same rounded number of targets into blocks. A block has at most halfMax fan-outs, and their
// targets fit into a bitset.
func (f *fanOuts) split(fans []fan) {
	slots := func(f fan) int { return min(bitsMax, 1<<bits.Len(uint(len(f.targets)-1))) }
	slices.SortStableFunc(fans, func(a, b fan) int { return cmp.Compare(slots(a), slots(b)) })
	for len(fans) > 0 {
		b := fanBlock{slots: slots(fans[0])}
		for n := range min(len(fans), halfMax, b.maxInFlight()) {
			if slots(fans[n]) == b.slots {
				f.number[fans[n].step] = int32(len(f.blocks)*halfMax + n)
				b.fans = fans[:n+1]
			}
		}
		f.blocks = append(f.blocks, b)
		fans = fans[len(b.fans):]
	}
}

// inBlock reports whether a step is a fan-out of block b; place returns its place in its block.
func (f *fanOuts) inBlock(step int32, b int) bool {
	return f.number[step] >= 0 && int(f.number[step])/halfMax == b
}

func (f *fanOuts) place(step int32) int { return int(f.number[step]) % halfMax }

// missing calls tell, for every join, with the targets of the fan-outs of block b that do not lead to the join. Each call
// concerns one range of targets, which begins at from.
func (f *fanOuts) missing(b int, tell func(join, from int, missing *bitset)) {
	block := &f.blocks[b]
	for from := 0; from < len(block.fans[0].targets); from += block.slots {
		f.ways.clear()
		own := make([]bitset, len(block.fans))
		var asked, missing bitset
		for k, fan := range block.fans {
			for slot, to := range fan.targets[from:min(from+block.slots, len(fan.targets))] {
				own[k].add(slot*block.maxInFlight() + k)
				f.ways.put(to, oneBit(slot*block.maxInFlight()+k))
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

// leading records, for every join, the fan-outs of block b whose arcs all lead to it.
func (f *fanOuts) leading(b int, leads []bitset) {
	all := firstBits(len(f.blocks[b].fans))
	for j := range leads {
		leads[j] = all
	}
	f.missing(b, func(join, _ int, missing *bitset) {
		missing.fold(f.blocks[b].maxInFlight())
		leads[join] = leads[join].without(missing)
	})
}

// open records, for every join, the fan-outs of block b that may be open when a token arrives there. The lower half of the bits
// are fan-outs inside which no other fan-out has been opened yet, the upper half those inside which one has been opened. A
// token that leaves a join has left every fan-out to which the join belongs, and always the innermost one.
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

// fanSet is a set of numbers of fan-outs, stored as the nonzero words of a bit set.
type fanSet struct {
	at    []int32 // indexes of the words, ascending
	words []uint64
}

// add adds a word. Words are added in ascending order.
func (s *fanSet) add(at int32, word uint64) {
	if word != 0 {
		s.at, s.words = append(s.at, at), append(s.words, word)
	}
}

func (s *fanSet) has(number int32) bool {
	i, ok := slices.BinarySearch(s.at, number/64)
	return ok && s.words[i]&(1<<(number%64)) != 0
}

// all yields the numbers in ascending order.
func (s *fanSet) all(yield func(number int32) bool) {
	for i, word := range s.words {
		for ; word != 0; word &= word - 1 {
			if !yield(64*s.at[i] + int32(bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}
