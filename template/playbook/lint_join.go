package playbook

import "slices"

// strayJoins warns of joins that tokens of a fan-out can reach although the join belongs neither to that fan-out nor to one that is
// open around it.
func (l *linter) strayJoins(f *fanOuts) {
	from := make([]int32, len(f.joins)) // by join: the step of such a fan-out; -1: none
	var joins []int
	for j := range f.joins {
		from[j] = -1
		if len(f.others[j].at) > 0 {
			joins = append(joins, j)
		}
	}
	if len(joins) == 0 {
		return
	}
	s := newStraySearch(f)
	for list := range slices.Chunk(joins, bitsMax) {
		s.find(list, from)
	}
	for b := range f.blocks {
		l.strayArcs(f, b, from)
	}
}

// strayArcs warns of those joins to which only some arcs of a block's fan-outs lead.
func (l *linter) strayArcs(f *fanOuts, b int, from []int32) {
	concerned := func(step int32) bool {
		return step >= 0 && f.inBlock(step, b)
	}
	if !slices.ContainsFunc(from, concerned) {
		return
	}
	reported := map[int]bool{}
	width := f.blocks[b].maxInFlight()
	f.missing(b, func(j, first int, missing *bitset) {
		if reported[j] || !concerned(from[j]) {
			return
		}
		k := f.place(from[j])
		for i := range missing.all {
			if i%width == k {
				reported[j] = true
				l.stray(f.joins[j], from[j], f.blocks[b].fans[k].targets[first+i/width], f.ways.at(from[j]).has(i))
				return
			}
		}
	})
}

// stray warns that a join does not belong to the fan-out of step fan, because the arc from fan to step to does not lead to the
// join. With back, that arc does lead to it, but only through fan again.
func (l *linter) stray(join, fan, to int32, back bool) {
	steps := l.book.Steps
	const text = "the join of step %q merges only tokens of the innermost fan-out that is open: step %q leads to it, but "
	if back {
		l.warn(steps[join].Join.Pos, text+"by its arc to %q only through %q again. Let the way back begin behind the join instead",
			steps[join].Name, steps[fan].Name, steps[to].Name, steps[fan].Name)
		return
	}
	l.warn(steps[join].Join.Pos, text+"not by its arc to %q. Let a step on the way to the join lead to %q instead",
		steps[join].Name, steps[fan].Name, steps[to].Name, steps[to].Name)
}

// straySearch searches for fan-outs whose tokens can reach joins that do not belong to them: on a path from the entry to the
// join without a fan-out to which the join belongs.
type straySearch struct {
	*fanOuts           // its paths start at the entry
	into     [][]int32 // by step: the steps with arcs to it
	back     *arcGraph
	answered []bitset // by number of a fan-out: joins that belong to it
	beside   []bitset // by number of a fan-out: joins that do not belong to it, but at which it may be open
}

func newStraySearch(f *fanOuts) *straySearch {
	s := &straySearch{fanOuts: f, into: make([][]int32, len(f.number))}
	for i, step := range f.book.Steps {
		for _, to := range step.targets() {
			s.into[to] = append(s.into[to], int32(i))
		}
	}
	s.back = newWays(s.into, f.joins[len(f.joins)-1])
	s.answered = make([]bitset, len(f.blocks)*halfMax)
	s.beside = make([]bitset, len(f.blocks)*halfMax)
	return s
}

// find records in from, for each of the given joins, the step of such a fan-out; it prefers one near the join. Bit i stands for
// joins[i].
func (s *straySearch) find(joins []int, from []int32) {
	clear(s.answered)
	clear(s.beside)
	s.ways.clear()
	s.back.clear()
	s.ways.put(int32(s.book.Executor.Entry), firstBits(len(joins)))
	for i, j := range joins {
		for n := range s.book.Steps[s.joins[j]].Join.answers.all {
			s.answered[n].add(i)
		}
		for n := range s.others[j].all {
			s.beside[n].add(i)
		}
		for _, step := range s.into[s.joins[j]] {
			s.back.put(step, oneBit(i))
		}
	}
	s.ways.spread(s.leavingBits)
	s.back.spread(func(step int32, in *bitset) bitset {
		if n := s.number[step]; n >= 0 {
			here := s.beside[n].and(in).and(s.ways.at(step))
			for i := range here.all {
				if from[joins[i]] < 0 {
					from[joins[i]] = step
				}
			}
		}
		return s.leavingBits(step, in)
	})
}

// leavingBits returns the bits that leave a step: those of the joins that do not belong to the fan-out of the step.
func (s *straySearch) leavingBits(step int32, in *bitset) bitset {
	if n := s.number[step]; n >= 0 {
		return in.without(&s.answered[n])
	}
	return *in
}
