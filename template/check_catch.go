package template

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// mention is a read of a step by the item at s.
type mention struct {
	read expr.Read
	s    *spot
	path string
}

// catch determines, for each read of an output, whether a failure of the step has been caught when the reader starts. A reader
// of an output needs its step: a failure of the step aborts the reader. But if a conditional has tested the status of the step,
// and thereby caught the failure, a reader with a default uses the default, and a reader inside the conditional may handle the
// failure.
func (c *checker) catch() {
	c.testers = make(map[*Item][]*spot)
	for _, s := range c.spots {
		if _, ok := s.item.Node.(*Conditional); !ok {
			continue
		}
		for _, r := range s.item.Reads {
			if r.Field != expr.Output {
				c.testers[r.Target] = append(c.testers[r.Target], s)
			}
		}
	}
	for _, s := range c.spots {
		for i := range s.item.Reads {
			if r := &s.item.Reads[i]; r.Field == expr.Output {
				r.Caught = c.caught(s, r)
			}
		}
	}
	for _, m := range c.defaults {
		for _, r := range m.s.item.Reads {
			if r.Field == expr.Output && r.Target.ID == m.read.Step && !r.Caught {
				c.warn(m.read, m.s, r.Target, m.path)
			}
		}
	}
}

// caught reports whether a conditional has caught any failure of the step that r reads, whenever the item at s may start.
func (c *checker) caught(s *spot, r *Read) bool {
	reader := c.level(s, r.Target)
	for _, tester := range c.testers[r.Target] {
		catcher := c.level(tester, r.Target)
		switch {
		case catcher == reader: // its own test, or a test in the same map
			return true
		case isInConditional(reader, catcher):
			return true
		case r.Defaulted && order(catcher, reader) == later && decides(catcher, reader, c.spots[r.Target.Index]):
			return true
		}
	}
	return false
}

// decides reports whether a conditional decides whenever the item at reader starts and target has run: each branch around the
// conditional contains the reader or the target.
func decides(conditional, reader, target *spot) bool {
	for at := conditional.item; at.Parent != nil; at = at.Parent {
		_, ok := at.Parent.Node.(*Conditional)
		if ok && !inBranch(reader, at.Parent, at.Branch) && !inBranch(target, at.Parent, at.Branch) {
			return false
		}
	}
	return true
}

// level returns the outermost map around s that does not contain t, or s itself: s as seen from the level of t.
func (c *checker) level(s *spot, t *Item) *spot {
	it := s.item
	for it.Map != t.Map {
		it = it.Map
	}
	return c.spots[it.Index]
}

// isInConditional reports whether s is inside a conditional.
func isInConditional(s, conditional *spot) bool {
	for at := s.item.Parent; at != nil; at = at.Parent {
		if at == conditional.item {
			return true
		}
	}
	return false
}

// mayBeCaught reports whether a conditional may catch a failure of an item: it reads the status of that item, or of another
// item that may have been aborted with it.
func (c *checker) mayBeCaught(it *Item) bool {
	for tested := range c.testers {
		if tested == it || order(c.spots[tested.Index], c.spots[it.Index]) != later {
			return true
		}
	}
	return false
}

// warn reports a default that is never used: its step is never skipped, and its failure is not caught.
func (c *checker) warn(r expr.Read, s *spot, target *Item, path string) {
	if !r.Bare || r.Field != expr.Output || mayBeSkipped(s, c.spots[target.Index]) || skipsByPolicy(target) {
		return
	}
	where := " before this"
	if s == nil {
		where = ""
	}
	e := &document.Error{Text: r.Text, Msg: fmt.Sprintf("a default catches no failure: step %q is never skipped, and no conditional%s reads %s",
		target.ID, where, strings.TrimSuffix(r.Text, "output")+"status")}
	e.Pos = c.nearSpot(s).At(path)
	if c.w.source != nil {
		e.Pos = c.w.source.At(path).Pos.At(path)
	}
	c.warnings.Add(e)
}

// skipsByPolicy reports whether a step may be skipped because of its own timing or fulfillment.
func skipsByPolicy(it *Item) bool {
	s, ok := it.Node.(*Step)
	if !ok {
		return false
	}
	f := s.Fulfillment
	return s.Timing != nil && s.Timing.OnTimeout == SkipOnTimeout ||
		f != nil && (f.OnNotFulfilled == ThenSkip || f.OnError == ThenSkip)
}
